import type { ComponentChildren, Ref } from 'preact';
import { hrefOf } from './router.js';

interface SemaphoreLinkProps {
  readonly name: string;
  /** Default: the name. */
  readonly children?: ComponentChildren;
  /** For a place where the style sheet may cut the name. */
  readonly title?: string;
  readonly link?: Ref<HTMLAnchorElement>;
  readonly onOpen?: (link: HTMLAnchorElement) => void;
}

export function SemaphoreLink({ name, title, link, onOpen, children = name }: SemaphoreLinkProps) {
  return (
    <a
      class="name"
      title={title}
      ref={link}
      href={hrefOf(['work', name])}
      onClick={(event) => onOpen?.(event.currentTarget)}
    >
      {children}
    </a>
  );
}
