/**
 * All values of {@link DenialReason}.
 *
 * Decided from the record: `no-definition`, `group` and `acquirer` (a pattern doesn't match this node), `no-permit`
 * (all permits are held), `paused` (by an operator), `recovering` (lost data were restored a moment ago), `permit-lost`
 * (the permit to refresh is gone), `other-preferred` (a permit is free, but the next grant is kept for another node).
 *
 * Decided without the record: `unavailable`, `no-quorum`, `corrupt-record`, `newer-record`, `closing` (this node shuts
 * down).
 */
export const DENIAL_REASONS = [
  'no-definition',
  'group',
  'acquirer',
  'paused',
  'no-permit',
  'recovering',
  'permit-lost',
  'other-preferred',
  'unavailable',
  'no-quorum',
  'corrupt-record',
  'newer-record',
  'closing',
] as const;

/**
 * Why a node gets no permit. A denial is a value, not an error.
 *
 * @useDeclaredType
 */
export type DenialReason = (typeof DENIAL_REASONS)[number];
