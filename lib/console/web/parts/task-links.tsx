import type { ComponentChildren } from 'preact';
import { hrefOf } from './router.js';

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

interface GroupName {
  readonly type: string;
  /** Name in the whole cluster. */
  readonly group: string;
  /** Name as its submitter gave it. Default: the name in the whole cluster. */
  readonly name?: string;
}

/** A link to the page of a group. */
export function GroupLink({ group }: { readonly group: GroupName }) {
  return (
    <a class="name" href={groupHref(group)}>
      {group.type}[{group.name ?? group.group}]
    </a>
  );
}

export function groupHref({ type, group }: GroupName): string {
  return hrefOf(['work', QUEUE + type, group]);
}
