export { ClusterSingleton } from './cluster-singleton.decorator.js';
export type { ClusterSingletonOptions, SemaphoreName } from './cluster-singleton.metadata.js';
export { NoGatekeeperError, type RunsJobs, guardWith } from './guarded-run.js';
export { GuardedMethodsExplorer } from './guarded-methods.explorer.js';
export type { GuardedMethod } from './guarded-method.js';
