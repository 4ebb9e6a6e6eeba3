import type {
  AcquireRequest,
  DefinitionChange,
  Expiring,
  SemaphoreDefinition,
  SemaphoreRecord,
  StoredPermit,
  View,
} from '../../../lib/core/decision/index.js';

/** Cluster time at which these tests begin. */
export const START = 1_790_000_000_000;
export const DURATION = 10_000;
export const TOLERANCE = 500;

export function aDefinition(changes: Partial<SemaphoreDefinition> = {}): SemaphoreDefinition {
  return { name: 'job', groupPattern: '.*', acquirerPattern: '.*', permits: 1, duration: DURATION, ...changes };
}

export function aRecord(changes: Partial<SemaphoreRecord> = {}): SemaphoreRecord {
  return {
    v: 1,
    nonce: 'before',
    seq: 1,
    at: START,
    revision: 1,
    lastToken: 0,
    definition: aDefinition(),
    permits: [],
    ...changes,
  };
}

export function aChange(kind: DefinitionChange['kind'] = 'edit', reason?: string): DefinitionChange {
  return { id: 'change', kind, by: 'ann', at: 1, ...(reason && { reason }) };
}

/** A permit of `node`, granted at the start. */
export function aPermit(node: string, changes: Partial<StoredPermit> = {}): StoredPermit {
  return {
    id: `permit-of-${node}`,
    slot: 0,
    token: START * 1024,
    instance: node,
    holder: node,
    acquirer: node,
    group: 'default',
    grantedAt: START,
    expiresAt: START + DURATION,
    duration: DURATION,
    ...changes,
  };
}

export function aRequest(node: string, changes: Partial<AcquireRequest> = {}): AcquireRequest {
  return {
    instance: node,
    holder: node,
    acquirer: node,
    group: 'default',
    permitId: `new-of-${node}`,
    nonce: `write-of-${node}`,
    ...changes,
  };
}

/** How a taker sees it `after` ms, by cluster time alone. */
export function viewAt(after: number): View {
  const now = START + after;
  return { now, isExpired: (lease: Expiring) => lease.expiresAt + TOLERANCE <= now };
}
