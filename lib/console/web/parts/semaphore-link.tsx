import type { ComponentChildren, Ref } from 'preact';
import { hrefOf } from '../router.js';

interface SemaphoreLinkProps {
  readonly name: string;
  /** Default: the name. */
  readonly children?: ComponentChildren;
  readonly link?: Ref<HTMLAnchorElement>;
  readonly onOpen?: (link: HTMLAnchorElement) => void;
}

export function SemaphoreLink({ name, link, onOpen, children = name }: SemaphoreLinkProps) {
  return (
    <a class="name" ref={link} href={hrefOf(['work', name])} onClick={(event) => onOpen?.(event.currentTarget)}>
      {children}
    </a>
  );
}
