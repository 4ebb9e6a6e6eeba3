export * from '../core/permits/call-options.js';
export * from '../core/context/context.js';
export type { NodeIdentity } from '../core/context/node-identity.js';
export type { JsonValue, NodeMetadata, Participant } from '../core/context/participant.js';
export type { AuditEntry, HolderState } from '../core/context/answers.js';
export * from '../core/context/audit-actions.js';
export * from '../core/permits/runs/current-permit.js';
export * from '../core/context/change-options.js';
export * from '../core/permits/declared/declared-definitions.js';
export * from '../core/permits/declared/node-code.js';
export * from '../core/members/index.js';
export type { OwnerMoves, OwnersChange } from '../allocation/moves/move-answers.js';
export type { OwnerMoveReason } from '../allocation/moves/move-kinds.js';
export { type NodeTasks, nodeTasksSchema } from '../tasks/overview/node-tasks.js';
export { type ArchivedDefinition, LEADERSHIP_JOB } from '../core/decision/index.js';
export * from '../operate/definitions/index.js';
export * from '../core/context/events.js';
export * from '../core/context/definition-events.js';
export * from '../core/context/task-events.js';
export { ALERT_KINDS, type Alert, type AlertKind } from '../core/context/alert.js';
export type { AlertsMessage, AlertsOptions, WebhookOptions } from '../operate/alerts/index.js';
export type { ClusterClockReport } from '../core/clock/index.js';
export type { Explanation } from '../core/permits/answers.js';
export * from '../core/permits/permits.errors.js';
export * from '../operate/definitions/definitions.errors.js';
export { NotReadyError, type NotReadyReason } from './readiness.js';
export * from './gatekeeper-options.js';
export {
  CannotLeadError,
  type Cluster,
  type ClusterSettings,
  type ClusterStatus,
  NotLeaderError,
  type Term,
  UnknownScopeError,
} from '../leadership/index.js';
export type { ObservedNode, Telemetry, TelemetryDefinition } from './telemetry.js';
export * from './gatekeeper.js';
export type { Parts } from './build.js';
export { isMock, isReal, keepParts, markAsStandIn, partsOf } from './parts.js';
export type {
  CountedNodes,
  Health,
  HealthFault,
  HealthFaultCode,
  HealthReport,
  PartHealth,
} from '../operate/insight/index.js';
export type { MaybeStale, StalePart, StalePartName } from '../core/context/stale.js';
export * from '../operate/activity/index.js';
export * from '../operate/insight/index.js';
export * from '../core/permits/own-permit.js';
export * from '../core/permits/permit.js';
export type { ExternalAnswer, ExternalPermit, ExternalRequest } from '../core/permits/external/external-calls.js';
export * from '../core/permits/runs/run-permit.js';
export * from '../core/permits/runs/run-skipped.error.js';
export * from '../core/permits/by-hand/by-hand.errors.js';
export type { RunnableJob } from '../core/permits/by-hand/run-request-handler.js';
export type { RunNowPlan, RunnableNow, RunNowState, RunNowStatus } from '../operate/run-now/answers.js';
export type { RunNowOptions, RunNowTarget } from '../operate/run-now/run-now.js';
export type { RunOutcome } from '../core/permits/by-hand/run-request.js';
export * from '../operate/run-now/run-status.js';
export type { CatchUpJob } from '../core/permits/missed/missed-runs.js';
export type { RunBackoff, RunRetry } from '../core/permits/retry-policy.js';
export * from '../core/permits/runs/runner.js';
export * from '../core/permits/semaphore.js';
export type { SemaphoreState } from '../operate/insight/semaphore-answers.js';
export * from '../operate/insight/state.js';
