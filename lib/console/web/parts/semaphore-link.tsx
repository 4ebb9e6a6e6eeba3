import type { Ref } from 'preact';
import { hrefOf } from '../router.js';

interface SemaphoreLinkProps {
  readonly name: string;
  readonly link?: Ref<HTMLAnchorElement>;
  readonly onOpen?: (link: HTMLAnchorElement) => void;
}

export function SemaphoreLink({ name, link, onOpen }: SemaphoreLinkProps) {
  return (
    <a class="name" ref={link} href={hrefOf(['semaphores', name])} onClick={(event) => onOpen?.(event.currentTarget)}>
      {name}
    </a>
  );
}
