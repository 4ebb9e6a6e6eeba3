export type { ArchivedRun, HistoryArchive, HistoryArchiveDefinition } from './archive/history-archive.js';
export { RunArchivist } from './archive/run-archivist.js';
export * from './audit.js';
export * from './newest-first.js';
export * from './run-history.js';
export { readRunFacts } from './run-facts.js';
export { JobHistories, timesOf } from './jobs/job-histories.js';
export { type JobRuns, type RunDay, type RunStatistics, newestOf } from './jobs/job-runs.js';
export { type JobSummary, type RunRates, summaryOf } from './jobs/job-summary.js';
export { type FailedRun, type JobVersion, MOST_FAILURES } from './jobs/job-record.js';
export { RUN_KINDS, type RunKind, type RunsQuery, entryKey } from './jobs/runs-query.js';
export { Runs } from './runs.js';
export {
  type NodeCode,
  type NodeInfo,
  type JobInfo,
  type JobSchedule,
  nodeInfoSchema,
  jobInfoSchema,
} from './node-info.js';
export { NodeMatches } from './node-matches.js';
export { LivingNodes } from './living-nodes.js';
export { NodeRegistry } from './node-registry.js';
export * from './history-entry.js';
