export { Candidate, type TermListener } from './candidate.js';
export { Cluster, type ClusterSettings, type ClusterStatus } from './cluster.js';
export { Handovers } from './handovers.js';
export { CannotLeadError, NotLeaderError, UnknownScopeError } from './leadership.errors.js';
export type { Term } from './term.js';
