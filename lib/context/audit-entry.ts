import type { DefinitionChange, SemaphoreDefinition, StoredPermit } from '../decision/index.js';
import type { NodeIdentity } from './node-identity.js';

export type AuditAction = DefinitionChange['kind'] | 'revoke' | 'restore';

/** A change by a person or a program, as the audit log keeps it. */
export interface AuditEntry {
  /** Cluster time in ms. */
  readonly at: number;
  readonly action: AuditAction;
  readonly semaphore: string;
  readonly by: string;
  readonly reason?: string;
  /** Through which node. */
  readonly node: NodeIdentity;
  /** The one that the change made. */
  readonly revision?: number;
  readonly from?: SemaphoreDefinition;
  readonly to?: SemaphoreDefinition;
  /** What was revoked. */
  readonly permit?: StoredPermit;
}
