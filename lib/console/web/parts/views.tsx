import { hrefOf, route } from './router.js';

interface ViewsProps {
  /** Name of the navigation for screen readers. */
  readonly label: string;
  /** Path and name of each view. */
  readonly views: readonly (readonly [path: readonly string[], name: string])[];
}

/** Links to the views of one page. */
export function Views({ label, views }: ViewsProps) {
  const current = route.value.path.join('/');
  return (
    <nav class="views" aria-label={label}>
      {views.map(([path, name]) => (
        <a key={name} href={hrefOf(path)} aria-current={path.join('/') === current ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}
