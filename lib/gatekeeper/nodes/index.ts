export { type NodeInfo, type JobInfo, type JobSchedule, nodeInfoSchema, jobInfoSchema } from './node-info.js';
export { NodeMatches } from './node-matches.js';
export { NodeRegistry } from './node-registry.js';
