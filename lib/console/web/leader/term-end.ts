import type { TermOverview } from '../api/answers.js';

type TermEnd = NonNullable<TermOverview['ended']>;

/** How a term ended, in words. */
const ENDS: Partial<Record<TermEnd, string>> = {
  resigned: 'The node resigned',
  'other-preferred': 'Handed over',
  expired: 'Its permit expired: the node crashed, froze or lost contact',
  revoked: 'Its permit was revoked',
  'no-definition': 'The scope was removed',
  paused: 'The scope was paused',
  group: 'The group pattern no longer matched the node',
  acquirer: 'The acquirer pattern no longer matched the node',
  'no-permit': 'The definition allowed no leader',
  closing: 'The node shut down',
  stuck: 'Its work did not end, so the permit expired',
  'permit-lost': 'Its permit was lost',
  recovering: 'The store lost data',
};

const CHANGES: Partial<Record<string, string>> = {
  'step-down': 'Stepped down, asked by',
  transfer: 'Transferred by',
  revoke: 'Revoked by',
};

/** Ends that no person and no node wanted. */
const BAD: ReadonlySet<TermEnd> = new Set(['expired', 'stuck', 'permit-lost', 'recovering']);

export function isBad({ ended }: TermOverview): boolean {
  return ended !== undefined && BAD.has(ended);
}

/** Says how a term ended. */
export function endText({ to, ended, change }: TermOverview): string {
  if (to === undefined) return 'Goes on';
  const changed = change && CHANGES[change.action];
  if (changed) return `${changed} ${change.by}${change.reason ? `: “${change.reason}”` : ''}`;
  if (ended === undefined) return 'Not known';
  return ENDS[ended] ?? ended;
}
