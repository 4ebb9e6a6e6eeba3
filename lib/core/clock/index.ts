export type { ClusterClockReport } from './clock-report.js';
export * from './cluster-clock.js';
export * from './reading-rounds.js';
export * from './lease-expiry.js';
export * from './lease-observations.js';
export * from './try-sample.js';
