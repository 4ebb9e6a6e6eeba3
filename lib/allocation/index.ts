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
export type { GroupNode, GroupOverview, GroupSummary, OwnedBy, SetInDoubt } from './group-overview.js';
export * from './manual-slice.js';
export type { MovesQuery, PastChange, PastMove, PastMoves } from './moves/past-moves.js';
export type { OwnerRun, Ownership } from './node/owner-work.js';
export type { RevocationReason } from './assign/assign.js';
export type { GroupFault } from './unowned-alarm.js';
export type { AllocationPlan, MoveReason, PlanRequest, PlannedMove, PlannedShare } from './plan.js';
export type { MovementLimit } from './assign/movement-limit.js';
export type { Strategy, StrategyFunction, StrategyInput } from './assign/strategy.js';
export type { WeightedParticipant } from './assign/participant.js';
