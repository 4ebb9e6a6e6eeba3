import type { StalePart } from '../api/answers.js';
import { Icon } from './icon.js';
import { DateTime } from './time.js';

const NAMES: Record<StalePart['part'], string> = {
  records: 'semaphores',
  nodes: 'nodes',
  runs: 'runs',
  audit: 'changes',
};

/** Lists the parts that could not be read now, with the time of their data. */
export function StaleNotice({ stale }: { readonly stale: readonly StalePart[] }) {
  if (stale.length === 0) return null;
  return (
    <p class="attention stale">
      <Icon name="warning" /> Not current:{' '}
      {stale.map(({ part, asOf }, index) => (
        <span key={part}>
          {index > 0 && ', '}
          {NAMES[part]} {asOf === undefined ? 'never read' : <DateTime at={asOf} />}
        </span>
      ))}
      .
    </p>
  );
}

/** Whether a part could not be read. Then an empty list does not mean that there is nothing. */
export function isUnknown(stale: readonly StalePart[], part: StalePart['part']): boolean {
  return stale.some((each) => each.part === part);
}
