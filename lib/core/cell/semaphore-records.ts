import {
  type Expiring,
  InvalidOptionsError,
  type SemaphoreRecord,
  type StoredPermit,
  type View,
  costFault,
  decodeRecord,
  encodeRecord,
  expire,
  expired,
  intendedDefinition,
  isActive,
  isBehind,
  patternFaults,
  quoted,
  restore,
  rewrite,
} from '../decision/index.js';
import { KEY_PREFIX } from '../decision/record.js';
import type { Context } from '../context/context.js';
import type { Plan, Step } from './plan.js';
import type { RecordCodec, RecordListener, RecordChanged } from './record-codec.js';
import { Cell } from './cell.js';

/** The cell of a semaphore's own record. */
export type DedicatedCell = Cell<SemaphoreRecord>;
export type SemaphoreChanged = RecordChanged<SemaphoreRecord>;

/** The record of one semaphore: its own record, or a name in a shard. */
export interface SemaphoreCell {
  readonly name: string;
  /** The latest version that this node has seen; may be old. */
  readonly known: SemaphoreRecord | undefined;
  /**
   * Carries out `plan`. Same errors as {@link Cell.transact}.
   *
   * @param asked duration in ms; makes a definition if neither code nor an operator made one
   * @throws InvalidOptionsError for a duration that is too long for a semaphore without a definition
   */
  transact<T>(plan: SemaphorePlan<T>, asked?: number): Promise<T>;
  /** Replaces the name's own record, if it can't be read. See {@link Cell.repair}. */
  repair: DedicatedCell['repair'];
  /** The view for a decision now. Call it only while cluster time is fresh. */
  view(): View;
  /** ms until another node may take over a lease that is not refreshed. Call it only while cluster time is fresh. */
  timeUntilExpiry(lease: Expiring): number;
  /** Announces that this node waits for a change of the record. Call the returned function to end the wait. */
  awaitChanges(): () => void;
}

export type SemaphorePlan<T> = Plan<SemaphoreRecord, T>;
export type SemaphoreStep<T> = Step<SemaphoreRecord, T>;

/** A semaphore's own record, with its definition and its permits. */
const SEMAPHORE: RecordCodec<SemaphoreRecord> = {
  kind: 'semaphore',
  keyPrefix: KEY_PREFIX,
  decode: decodeRecord,
  encode: encodeRecord,
  isBehind,
  restore,
  rewrite: (record, view, nonce) => rewrite(record, {}, view, nonce),
  leases: ({ permits, grace, preference }) =>
    grace || preference ? [...permits, ...[grace, preference].filter((each) => each !== undefined)] : permits,
};

/** Creates a cell that reports changes of its record as events of the gatekeeper. */
export function semaphoreCell(name: string, context: Context): DedicatedCell {
  const cell = new Cell(name, SEMAPHORE, context);
  cell.listen(reporting(cell, context));
  return cell;
}

function reporting(cell: DedicatedCell, context: Context): RecordListener<SemaphoreRecord> {
  const { name: semaphore, key } = cell;
  const { events, recoveries } = context;
  return {
    changed: (change) => {
      recoveries.note(key, change.record.grace, cell);
      reportChange(semaphore, change, context);
    },
    restored: ({ revision }) => events.next({ type: 'restored', semaphore, revision }),
    unreadable: (error) => events.next({ type: 'record-unreadable', semaphore, error }),
  };
}

/** Reports a new version of a semaphore's record, and a `changed` event if the revision is new. */
export function reportChange(semaphore: string, { record, former }: SemaphoreChanged, context: Context): void {
  const { events, changes } = context;
  if (changes.observed && former?.nonce !== record.nonce) changes.next(semaphore);
  if (former?.revision === record.revision) return;
  if (!record.isOnDemand) reportCostlyPatterns(semaphore, record, events);
  const { revision, change } = record;
  // A record that becomes active was defined for the first time, which is no change.
  if (former && isActive(former)) events.next({ type: 'changed', semaphore, revision, ...(change && { change }) });
}

/** Reports stored patterns that cost too much, once per revision. Compiles no pattern: a node may read all records. */
function reportCostlyPatterns(semaphore: string, record: SemaphoreRecord, events: Context['events']): void {
  const definition = intendedDefinition(record);
  const faults = definition ? patternFaults(definition, costFault) : [];
  if (faults.length === 0) return;
  const error = new InvalidOptionsError(`the definition of semaphore ${quoted(semaphore)}`, faults);
  events.next({ type: 'problem', semaphore, action: 'check its patterns', error });
}

/**
 * Whether a record surely has no permit, no grace and no operator's change, so that code alone could create it again.
 * Looks at the text only, because a sweep sees many records. This is safe: in every writer's text, only `change`,
 * `pause`, `grace` and `preference` follow `permits`, and quotes in people's texts are escaped.
 */
export function isIdle(text: string): boolean {
  return text.startsWith('{"v":1,') && text.endsWith(',"permits":[]}') && text.includes(',"revision":1,');
}

/** Writes the record without expired permits of any node, so that all nodes see the free slots. */
export async function freeExpired(cell: DedicatedCell, { events }: Context): Promise<void> {
  if (!cell.known || expired(cell.known, cell.view()).length === 0) return;
  const permits = await cell.transact<readonly StoredPermit[]>((record, view, nonce) => {
    const ended = record ? expired(record, view) : [];
    const next = record && expire(record, view, nonce);
    return next ? { notify: 'none', write: next, done: () => ended } : { result: [] };
  });
  if (permits.length > 0) events.next({ type: 'expired', semaphore: cell.name, permits });
}

/**
 * Whether a permit is missing or ends earlier than in the former version, a preference is gone, or the revision is new.
 * Then a slot may be free, and a permit of this node may be gone.
 */
export function takesAway({ record, former }: SemaphoreChanged): boolean {
  if (record.revision !== former?.revision) return true;
  // A node that saw the free slot of another node did not see the grant, which sends no hint.
  if (former.preference && !record.preference) return true;
  // Writes keep the order of permits, so a permit at another index counts as gone. That only costs an additional look.
  return !former.permits.every(({ id, expiresAt }, index) => {
    const permit = record.permits[index];
    return permit?.id === id && permit.expiresAt >= expiresAt;
  });
}
