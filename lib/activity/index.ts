export * from './audit.js';
export { newestRuns } from './last-runs.js';
export * from './newest-first.js';
export * from './run-history.js';
export { type NodeInfo, type JobInfo, type JobSchedule, nodeInfoSchema, jobInfoSchema } from './node-info.js';
export { NodeMatches } from './node-matches.js';
export { NodeRegistry } from './node-registry.js';
export * from './history-entry.js';
