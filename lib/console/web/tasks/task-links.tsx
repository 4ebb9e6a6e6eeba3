import type { ComponentChildren } from 'preact';
import { hrefOf } from '../router.js';

const QUEUE = 'task:';

interface TaskLinkProps {
  readonly id: string;
  /** Default: the id. */
  readonly children?: ComponentChildren;
}

/** A link to the page of a task. */
export function TaskLink({ id, children = id }: TaskLinkProps) {
  return (
    <a class="name" href={taskHref(id)}>
      {children}
    </a>
  );
}

/** A link to the page of a type of tasks. */
export function TypeLink({ type }: { readonly type: string }) {
  return (
    <a class="name" href={typeHref(type)}>
      {type}
    </a>
  );
}

export function taskHref(id: string): string {
  return hrefOf(['runs', id]);
}

export function typeHref(type: string): string {
  return hrefOf(['work', QUEUE + type]);
}
