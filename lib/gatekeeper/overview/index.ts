export { type HeldPermit, type NodeOverview, withHoldings } from './node-overview.js';
export type { Overview, SemaphoreOverview, JobOnNodes } from './overview.js';
export { readOverview } from './overview-reader.js';
export type { Warning } from './warnings.js';
