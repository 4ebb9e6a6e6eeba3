export type { NodeCard, TaskCard, TaskSchedule } from './node-card.js';
export { Roster } from './roster.js';
