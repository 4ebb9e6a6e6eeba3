/**
 * Why a resource moved. `leaving`: its owner shuts down, or has the weight 0. `no-owner`: it had none, as far as the
 * leader knew.
 */
export const OWNER_MOVE_REASONS = [
  'removed',
  'pinned',
  'drained',
  'leaving',
  'balance',
  'no-owner',
  'owner-gone',
] as const;

/**
 * Why a resource got another owner, or lost its owner.
 *
 * @useDeclaredType
 */
export type OwnerMoveReason = (typeof OWNER_MOVE_REASONS)[number];

export const OWNER_MOVE_STEPS = ['given', 'taken'] as const;
export const OWNERS_CHANGE_KINDS = ['moved', 'restored', 'confirmed'] as const;
