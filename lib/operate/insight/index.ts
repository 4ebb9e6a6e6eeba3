export { type HeldPermit, type NodeOverview, withHeldPermits } from './node-overview.js';
export type { HolderOverview } from './heard-holders.js';
export type { GatekeeperState } from './state.js';
export type { Overview, SemaphoreOverview, JobOnNodes } from './overview.js';
export { OverviewReader } from './overview-reader.js';
export { WARNING_CODES, type Warning } from './warning.js';
export {
  type CountedNodes,
  type Health,
  HealthCheck,
  type HealthRequest,
  type HealthWarning,
  type Known,
  type ReceiverStatus,
  type RequestResult,
} from './health-check.js';
export type { PartHealth } from './part-health.js';
export { type UnreadableCounts } from './health-report.js';
export { HEALTH_FAULT_CODES, type HealthFault, type HealthFaultCode, type HealthReport } from './health-report.js';
export { type NotLeadingReason, type ScopeStatus, scopeStatus } from './scope-status.js';
export { ApplicationWatch } from './application-watch.js';
export { CodeWatch } from './code-watch.js';
export { JobWatch, WATCHED_CODES } from './job-watch.js';
export { NodesWatch } from './nodes-watch.js';
export { type FaultPart, LeaderWatch } from './leader-watch.js';
export type { KeptTerm, NoLeaderFault, ScopeCandidate, ScopeOverview } from './leaders.js';
export { type LeadersOverview, type ScopeDetails, readLeader, readLeaders } from './leaders-reader.js';
export { type TermOverview, termsOf } from './terms.js';
