import { hrefOf } from '../router.js';

export function SemaphoreLink({ name }: { readonly name: string }) {
  return (
    <a class="name" href={hrefOf(['semaphores', name])}>
      {name}
    </a>
  );
}
