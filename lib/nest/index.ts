export { ClusterSingleton } from './cluster-singleton.decorator.js';
export type { ClusterSingletonOptions, SemaphoreName } from './cluster-singleton.metadata.js';
export { NoGatekeeperError, type RunsJobs, guardWith } from './guarded-run.js';
export { GuardedMethodsExplorer } from './guarded-methods.explorer.js';
export type { GuardedMethod } from './guarded-method.js';
export { ClusterService, type LeadOptions } from './cluster.service.js';
export { LeaderOnly, OnLeadershipGained, OnLeadershipLost } from './leader-only.decorator.js';
export { LeadershipExplorer } from './leadership.explorer.js';
