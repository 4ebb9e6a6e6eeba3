export { type NodeCard, type TaskCard, type TaskSchedule, nodeCardSchema, taskCardSchema } from './node-card.js';
export { Roster } from './roster.js';
