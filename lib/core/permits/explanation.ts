import {
  type Decision,
  type DefinitionChange,
  type Expiring,
  type Pause,
  type Preference,
  type SemaphoreDefinition,
  type SemaphoreRecord,
  type StoredPermit,
  decide,
  graceIn,
  holdersIn,
  patternFault,
  escapeHidden,
} from '../decision/index.js';
import { StoreUnavailableError } from '../store/index.js';
import type { Context, GrantFault } from '../context/context.js';
import type { NodeIdentity } from '../context/node-identity.js';
import { staleOf } from '../context/stale.js';
import type { Explanation } from './answers.js';
import type { HeldLeases } from './held-leases.js';
import type { SemaphoreCell } from '../cell/semaphore-records.js';

/** A decision on the record in the store, or the error of a store that can't be asked. */
interface Insight {
  readonly record: SemaphoreRecord | undefined;
  /** Present while only former holders go on, because data were lost. */
  readonly grace?: Expiring | undefined;
  readonly decision: Decision | StoreUnavailableError;
  readonly holders: readonly StoredPermit[];
}

type Verdict = Pick<Explanation, 'outcome' | 'reason' | 'sentence'>;

/**
 * Reads the record and decides, but writes nothing. A store that can't be asked counts as a denial.
 *
 * @throws CorruptRecordError, NewerRecordError when the record can't be read
 */
export async function explain(cell: SemaphoreCell, heldLeases: HeldLeases, context: Context): Promise<Explanation> {
  const { node, store, clusterClock, grantFault } = context;
  const { record, decision, grace, holders } = await look(cell, heldLeases, context).catch((error: unknown) => {
    if (error instanceof StoreUnavailableError) return remembered(cell, error);
    throw error;
  });
  const { definition, pause, revision } = record ?? {};
  return {
    semaphore: cell.name,
    ...verdictOf(decision, grantFault(), { record, grace }, node),
    ...(revision !== undefined && { revision }),
    // Copies: a caller that changes them in place must not change what this node knows.
    ...structuredClone({ ...(definition && { definition }), ...(pause && { pause }), holders }),
    ...(decision instanceof StoreUnavailableError &&
      staleOf({ stale: [{ part: 'records', sentence: decision.message }] })),
    node,
    clock: clusterClock.report(),
    store: store.health(),
  };
}

function look(cell: SemaphoreCell, heldLeases: HeldLeases, { node }: Context): Promise<Insight> {
  const held = heldLeases.leases.find((lease) => lease.permit.holder === node.instance && lease.isHeld)?.permit;
  return cell.transact<Insight>((record, view, nonce) => {
    const decision = decide(record, { ...node, holder: node.instance, permitId: nonce, nonce, held }, view);
    return { result: { record, decision, grace: graceIn(record, view), holders: holdersIn(record, view) } };
  });
}

function remembered({ known }: SemaphoreCell, error: StoreUnavailableError): Insight {
  return { record: known, decision: error, holders: known?.permits ?? [] };
}

/** If this node grants nothing at all, that is the reason, unless the record has no definition. */
function verdictOf(
  decision: Insight['decision'],
  fault: GrantFault | undefined,
  { record, grace }: Pick<Insight, 'record' | 'grace'>,
  node: NodeIdentity,
): Verdict {
  if (decision instanceof StoreUnavailableError) {
    const reason = decision.code === 'no-quorum' ? 'no-quorum' : 'unavailable';
    return { outcome: 'denied', reason, sentence: `nothing is granted: ${fault?.sentence ?? decision.message}` };
  }
  if (fault && record?.definition) {
    const reason = fault.code === 'no-quorum' || fault.code === 'closing' ? fault.code : 'unavailable';
    return { outcome: 'denied', reason, sentence: `nothing is granted: ${fault.sentence}` };
  }
  const { outcome } = decision;
  return {
    outcome,
    ...(outcome === 'denied' && { reason: decision.reason }),
    // The sentence contains names, patterns and reasons that other people wrote.
    sentence: escapeHidden(sentenceFor(decision, { record, grace }, node)),
  };
}

function sentenceFor(
  decision: Decision,
  { record, grace }: Pick<Insight, 'record' | 'grace'>,
  node: NodeIdentity,
): string {
  if (decision.outcome !== 'denied') {
    const { slot } = decision.permit;
    return decision.outcome === 'granted'
      ? `slot ${slot} is free: this node would get it`
      : `this node holds slot ${slot} and would refresh it`;
  }
  const { definition, revision, change } = record ?? {};
  switch (decision.reason) {
    case 'no-definition':
      if (change?.kind === 'remove') return removedBy(change);
      return `no definition of that name is loaded${grace ? `, and ${recovering(grace)}` : ''}`;
    case 'group':
    case 'acquirer':
      return mismatch(decision.reason, definition!, revision!, node);
    case 'paused':
      return pausedBy(record?.pause);
    case 'recovering':
      return recovering(grace);
    case 'other-preferred':
      return keptFor(record!.preference!);
    default:
      return `${shortage(definition?.permits ?? 0)}${heldBy(decision.holders)}`;
  }
}

/** Says in a sentence that only former holders go on. @param grace after lost data; undefined if its end is not known */
export function recovering(grace: Expiring | undefined): string {
  const end = grace ? ` (${new Date(grace.expiresAt).toISOString()})` : '';
  return `the store lost data, or may have: until the longest permit that it may have lost would have ended${end}, only former holders go on`;
}

function keptFor({ instance, isExcluded }: Preference): string {
  if (isExcluded) return 'a permit is free, but this node was asked to step down, so that others go first';
  return `a permit is free, but the next one is kept for the node of instance "${instance}"`;
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

function removedBy({ by, at, reason }: DefinitionChange): string {
  const removed = `it was removed by ${by}, ${new Date(at).toISOString()}${reason ? `: ${reason}` : ''}`;
  return `${removed}. No node gets a permit until it is reset to the code, or defined again`;
}

function pausedBy(pause: Pause | undefined): string {
  if (!pause) return 'it is paused';
  const { by, at, reason } = pause;
  return `it is paused by ${by} since ${new Date(at).toISOString()}${reason ? `: ${reason}` : ''}`;
}

function shortage(permits: number): string {
  if (permits === 0) return 'it is off (0 permits): no new permit is granted';
  return permits === 1 ? 'the only permit is held' : `all ${permits} permits are held`;
}

function heldBy(holders: readonly StoredPermit[]): string {
  if (holders.length === 0) return '';
  return `: ${holders.map((permit) => `${permit.acquirer} (until ${new Date(permit.expiresAt).toISOString()})`).join(', ')}`;
}
