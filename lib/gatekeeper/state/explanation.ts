import type { ClusterClockReport } from '../../clock/index.js';
import {
  type Decision,
  type DenialReason,
  type Pause,
  type SemaphoreDefinition,
  type SemaphoreRecord,
  type StoredPermit,
  decide,
  patternFault,
} from '../../semaphores/index.js';
import type { StoreHealth } from '../../stores/index.js';
import type { Context, NodeIdentity } from '../context/context.js';
import type { Holdings } from '../leases/holdings.js';
import type { RecordKeeper } from '../records/record-keeper.js';

/** What would be decided now on this node, and why. */
export interface Explanation {
  readonly semaphore: string;
  readonly outcome: 'granted' | 'refreshed' | 'denied';
  readonly reason?: DenialReason;
  /** For people. */
  readonly sentence: string;
  readonly definition?: SemaphoreDefinition;
  readonly revision?: number;
  readonly holders: readonly StoredPermit[];
  readonly node: NodeIdentity;
  readonly clock: ClusterClockReport;
  readonly store: StoreHealth;
}

interface Insight {
  readonly record: SemaphoreRecord | undefined;
  readonly decision: Decision;
  readonly holders: readonly StoredPermit[];
}

/** Asks the store and decides, but writes nothing. */
export async function explain(keeper: RecordKeeper, holdings: Holdings, context: Context): Promise<Explanation> {
  const { node } = context;
  const held = holdings.leases.find((lease) => lease.permit.holder === node.instance && lease.isHeld)?.permit;
  const { record, decision, holders } = await keeper.transact<Insight>((record, view, nonce) => {
    const decision = decide(record, { ...node, holder: node.instance, permitId: nonce, nonce, held }, view);
    return { result: { record, decision, holders: record?.permits.filter((permit) => !view.isDead(permit)) ?? [] } };
  });
  return {
    semaphore: keeper.name,
    outcome: decision.outcome,
    ...(decision.outcome === 'denied' && { reason: decision.reason }),
    sentence: sentenceFor(decision, record, node),
    ...(record?.definition && { definition: record.definition }),
    ...(record && { revision: record.revision }),
    holders,
    node,
    clock: context.clusterClock.report(),
    store: context.store.health(),
  };
}

function sentenceFor(decision: Decision, record: SemaphoreRecord | undefined, node: NodeIdentity): string {
  if (decision.outcome !== 'denied') {
    const { slot } = decision.permit;
    return decision.outcome === 'granted'
      ? `slot ${slot} is free: this node would get it`
      : `this node holds slot ${slot} and would refresh it`;
  }
  const { definition, revision } = record ?? {};
  switch (decision.reason) {
    case 'no-definition':
      return 'no definition of that name is loaded';
    case 'group':
    case 'acquirer':
      return mismatch(decision.reason, definition!, revision!, node);
    case 'paused':
      return pausedBy(record?.pause);
    case 'recovering':
      return 'the store lost data a moment ago: until the longest permit would have ended only former holders go on';
    default:
      return `${shortage(definition?.permits ?? 0)}${heldBy(decision.holders)}`;
  }
}

function mismatch(
  field: 'group' | 'acquirer',
  definition: SemaphoreDefinition,
  revision: number,
  node: NodeIdentity,
): string {
  const pattern = definition[`${field}Pattern`];
  const fault = patternFault(pattern);
  if (fault !== undefined) {
    return `${field}Pattern of revision ${revision} matches no name until it is edited, because it can't be used: ${fault}`;
  }
  const who = field === 'group' ? `this node's group "${node.group}"` : `"${node.acquirer}"`;
  return `${who} does not match ${field}Pattern "${pattern}" (revision ${revision})`;
}

function pausedBy(pause: Pause | undefined): string {
  if (!pause) return 'it is paused';
  const { by, at, reason } = pause;
  return `it is paused by ${by} since ${new Date(at).toISOString()}${reason ? `: ${reason}` : ''}`;
}

function shortage(permits: number): string {
  if (permits === 0) return 'it is paused (0 permits), and nobody new gets one';
  return permits === 1 ? 'the only permit is held' : `all ${permits} permits are held`;
}

function heldBy(holders: readonly StoredPermit[]): string {
  if (holders.length === 0) return '';
  return `: ${holders.map((permit) => `${permit.acquirer} (until ${new Date(permit.expiresAt).toISOString()})`).join(', ')}`;
}
