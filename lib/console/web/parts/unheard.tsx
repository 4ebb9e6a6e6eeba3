import { Badge } from './badge.js';

const TITLE = 'None of the living nodes is its process: it crashed, is cut off, or publishes no heartbeat';

/** Marks a holder that is no longer heard of. */
export function Unheard() {
  return (
    <Badge tone="bad" title={TITLE}>
      not heard of
    </Badge>
  );
}
