export * from './allocation.errors.js';
export { ALLOCATION_SCOPE, Allocation } from './allocation.js';
export type { AllocationGroup, ConfirmedSet } from './allocation-group.js';
export {
  type Allocated,
  type AllocationChange,
  type AllocationGroupDefinition,
  type AllocationGroupOptions,
  type AllocationListener,
  type AllocationOptions,
  type GroupSettings,
  allocationSchema,
  groupSchema,
} from './group-options.js';
export type {
  AllocationPlan,
  GroupNode,
  MoveReason,
  OwnedBy,
  PlannedMove,
  PlannedShare,
  SetInDoubt,
} from './answers.js';
export type { GroupOverview } from './group-overview.js';
export * from './manual-slice.js';
export type { PastChange, PastMove, PastMoves } from './moves/move-answers.js';
export type { MovesQuery } from './moves/past-moves.js';
export type { OwnerRun, Ownership } from './node/owner-work.js';
export type { RevocationReason } from './assign/assign.js';
export type { GroupFault } from './unowned-alarm.js';
export type { PlanRequest } from './plan.js';
export type { MovementLimit } from './assign/movement-limit.js';
export type { Strategy, StrategyFunction, StrategyInput } from './assign/strategy.js';
export type { WeightedParticipant } from './assign/participant.js';
