import type { LeftAlone } from '../api/answers.js';

/** Maximum number of listed names. The others are counted. */
const MOST_SHOWN = 20;

interface LeftListProps {
  readonly left: readonly LeftAlone[];
  readonly title: string;
}

/** Shows by name what was left alone, and why. */
export function LeftList({ left, title }: LeftListProps) {
  if (left.length === 0) return null;
  return (
    <>
      <p>{title}:</p>
      <ul class="failures" aria-label={title}>
        {left.slice(0, MOST_SHOWN).map(({ name, why }) => (
          <li key={name}>
            <strong>{name}</strong>: {why}
          </li>
        ))}
        {left.length > MOST_SHOWN && <li>and {left.length - MOST_SHOWN} more</li>}
      </ul>
    </>
  );
}
