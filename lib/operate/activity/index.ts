export type { ArchivedRun, HistoryArchive, HistoryArchiveDefinition } from './archive/history-archive.js';
export { RunArchivist } from './archive/run-archivist.js';
export * from './audit.js';
export * from './newest-first.js';
export * from './run-history.js';
export { readRunFacts } from './run-facts.js';
export { JobHistories, timesOf } from './jobs/job-histories.js';
export type {
  JobRuns,
  RunDay,
  RunStatistics,
  FailedRun,
  JobSummary,
  JobVersion,
  RunRates,
} from './jobs/job-answers.js';
export { newestOf } from './jobs/job-runs.js';
export { summaryOf } from './jobs/job-summary.js';
export { MOST_FAILURES } from './jobs/job-record.js';
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
export type { EndedRun, ExpiryEntry, StartEntry, StoredRunEntry } from './entry-schemas.js';
export type { HistoryEntry, PermitLoss, RunEntry, RunningEntry, SkipEntry } from './history-answers.js';
export * from './history-entry.js';
