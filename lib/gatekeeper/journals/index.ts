export * from './audit.js';
export { newestRuns } from './last-runs.js';
export * from './newest-first.js';
export * from './run-log.js';
