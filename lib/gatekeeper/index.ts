export * from '../permits/call-options.js';
export * from '../context/context.js';
export type { NodeIdentity } from '../context/node-identity.js';
export * from '../context/participant.js';
export * from '../context/audit-entry.js';
export * from '../permits/runs/current-permit.js';
export * from '../definitions/index.js';
export * from '../context/events.js';
export * from '../context/definition-events.js';
export * from '../context/task-events.js';
export { ALERT_KINDS, type Alert, type AlertKind } from '../context/alert.js';
export type { AlertsMessage, AlertsOptions, WebhookOptions } from '../alerts/index.js';
export type { ClusterClockReport } from '../clock/index.js';
export * from '../permits/explanation.js';
export * from '../permits/permits.errors.js';
export * from '../definitions/definitions.errors.js';
export * from './not-ready.error.js';
export * from './gatekeeper-options.js';
export { DEFAULT_LEASE, DEFAULT_SCOPE, type LeadershipOptions } from './leadership-options.js';
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
export { isMock, isReal, keepParts, markAsStandIn, type Parts, partsOf } from './parts.js';
export type { HolderState } from '../context/holder-state.js';
export type {
  CountedNodes,
  Health,
  HealthFault,
  HealthFaultCode,
  HealthReport,
  PartHealth,
  StalePart,
} from '../insight/index.js';
export * from '../activity/index.js';
export * from '../insight/index.js';
export * from '../permits/own-permit.js';
export * from '../permits/permit.js';
export type { ExternalAnswer, ExternalPermit, ExternalRequest } from '../permits/external/external-calls.js';
export * from '../permits/runs/run-permit.js';
export * from '../permits/runs/run-skipped.error.js';
export * from '../permits/by-hand/by-hand.errors.js';
export type { RunnableJob } from '../permits/by-hand/requested-runs.js';
export type { RunNowOptions, RunNowPlan, RunNowTarget } from '../permits/by-hand/run-now.js';
export type { RunnableNow } from '../permits/by-hand/run-plan.js';
export type { RunOutcome } from '../permits/by-hand/run-request.js';
export * from '../permits/by-hand/run-status.js';
export type { CatchUpJob } from '../permits/missed/missed-runs.js';
export type { RunBackoff, RunRetry } from '../permits/runs/retry-policy.js';
export * from '../permits/runs/runner.js';
export * from '../permits/semaphore.js';
export * from '../insight/state.js';
