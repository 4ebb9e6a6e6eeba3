import { type MaybeStale, partName } from '../../../core/context/stale.js';
import { Icon } from './icon.js';
import { DateTime } from './time.js';

/** Lists the parts that could not be read now, with the time of their data. */
export function StaleNotice({ of: { stale = [] } }: { readonly of: MaybeStale }) {
  if (stale.length === 0) return null;
  return (
    <p class="attention stale">
      <Icon name="warning" /> Not current:{' '}
      {stale.map((entry, index) => (
        <span key={entry.part}>
          {index > 0 && ', '}
          {partName(entry)} {entry.since === undefined ? 'never read' : <DateTime at={entry.since} />}
        </span>
      ))}
      .
    </p>
  );
}
