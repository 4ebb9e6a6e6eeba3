/** What the API answers, as the page reads it. Types only: nothing of a node's code gets into the page. */
import type { NodeIdentity } from '../../../gatekeeper/index.js';

export type {
  AuditEntry,
  DefinitionState,
  Explanation,
  HistoryEntry,
  HolderState,
  MigrationPlan,
  MigrationStep,
  NodeIdentity,
  RunEntry,
  BulkResult,
} from '../../../gatekeeper/index.js';
export type { DefinitionChange, Pause, SemaphoreDefinition } from '../../../semaphores/index.js';
export type {
  AuditAnswer,
  NodeOverview,
  NodesAnswer,
  Role,
  SemaphoreAnswer,
  SemaphoreOverview,
  SemaphoresAnswer,
  SessionAnswer,
} from '../../api/index.js';

/** Which living nodes a definition lets through, and what is wrong with it: each fault begins with its field. */
export interface PreviewAnswer {
  readonly faults: readonly string[];
  readonly nodes: readonly (NodeIdentity & { readonly matches: boolean; readonly mismatch?: 'group' | 'acquirer' })[];
}
