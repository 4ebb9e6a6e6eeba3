export type { HeldPermit, NodeOverview, HolderOverview, SemaphoreOverview, JobOnNodes } from './semaphore-answers.js';
export { withHeldPermits } from './node-overview.js';
export type { GatekeeperState } from './state.js';
export type { Overview } from './overview.js';
export { OverviewReader } from './overview-reader.js';
export type { Warning } from './warning.js';
export { WARNING_CODES } from './warning-codes.js';
export {
  type CountedNodes,
  type Health,
  type HealthWarning,
  type ReceiverStatus,
  type RequestResult,
  type PartHealth,
  type UnreadableCounts,
  HEALTH_FAULT_CODES,
  type HealthFault,
  type HealthFaultCode,
  type HealthReport,
} from './health-answers.js';
export { HealthCheck, type HealthRequest, type Known } from './health-check.js';
export type {
  NotLeadingReason,
  KeptTerm,
  NoLeaderFault,
  ScopeCandidate,
  ScopeOverview,
  LeadersOverview,
  ScopeDetails,
  TermOverview,
} from './leader-answers.js';
export { type ScopeStatus, scopeStatus } from './scope-status.js';
export { ApplicationWatch } from './application-watch.js';
export { CodeWatch } from './code-watch.js';
export { JobWatch } from './job-watch.js';
export { NodesWatch } from './nodes-watch.js';
export { type FaultPart, LeaderWatch } from './leader-watch.js';
export { readLeader, readLeaders } from './leaders-reader.js';
export { termsOf } from './terms.js';
