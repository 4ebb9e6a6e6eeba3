import type { HolderState } from '../api/answers.js';
import { Badge } from './badge.js';

const TITLE = 'No living node has this instance: it died, closed, stands still, is cut off, or has no heartbeat';

/** Marks a holder that no living node is. */
export function SilentBadge({ holder }: { readonly holder: HolderState }) {
  return holder.isSilent ? (
    <Badge tone="bad" title={TITLE}>
      not heard of
    </Badge>
  ) : null;
}
