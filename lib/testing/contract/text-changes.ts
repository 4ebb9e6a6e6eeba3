import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailableError, UnknownOutcomeError } from '../../core/store/store.errors.js';
import type { Driver, TextCollection } from '../../core/store/driver.js';
import { eventually } from './eventually.js';
import { COLLECTIONS, type CollectionName } from './texts.contract.js';

/** A change of one text, and how its call ended. */
export interface Change {
  readonly collection: CollectionName;
  readonly key: string;
  /** The text before the change, and after it. Undefined: none. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** True: it was made. False: the text was another one. */
  readonly outcome: boolean | Error;
}

/** Makes the next change of a flow, after its former one. */
type Flow = (former?: Change) => Promise<Change>;

/** Flows that change texts at once. */
export const FLOWS = 10;

/** One flow of changes for each collection of each driver. */
export function changesOf(...drivers: readonly Driver[]): Flow[] {
  return COLLECTIONS.flatMap((name) =>
    drivers.map(
      (driver): Flow =>
        (former) =>
          next(former, driver, name),
    ),
  );
}

/** Writes a text, replaces it, removes it unless it is a record, and begins again with another key. */
export async function next(former: Change | undefined, driver: Driver, name: CollectionName): Promise<Change> {
  const isOver = former?.after === undefined || (name === 'records' && former.after === 'replaced');
  const { key, after: before } = isOver ? { key: `contract:${randomUUID()}` } : former;
  const after = before === undefined ? 'created' : before === 'created' ? 'replaced' : undefined;
  const outcome = await (driver[name] as TextCollection)
    .compareAndSet(key, before, after)
    .catch((error: Error) => error);
  return { collection: name, key, before, after, outcome };
}

/**
 * Repeats changes in {@link FLOWS} flows, each until its first change that is not made.
 *
 * @param kinds of flows, in turn
 * @param stop makes the changes fail; gets a promise that resolves when all flows have ended
 */
export async function changeUntil(
  kinds: readonly Flow[],
  stop: (all: Promise<unknown>) => Promise<unknown>,
): Promise<Change[]> {
  const changes: Change[] = [];
  const run = async (flow: Flow, index: number) => {
    // The flows must not be in step: then all writes could be between two calls when `stop` comes.
    for (let turn = 0; turn < index; turn++) await nextTurn();
    for (let change: Change | undefined; (change?.outcome ?? true) === true; changes.push(change)) {
      change = await flow(change);
      // A store in memory answers without a turn of the event loop.
      await nextTurn();
    }
  };
  const flows = Promise.all(Array.from({ length: FLOWS }, (_, index) => run(kinds[index % kinds.length]!, index)));
  await eventually('writes are under way', () => changes.length > FLOWS * 5);
  await stop(flows);
  await flows;
  return changes;
}

/** @param driver is connected */
export async function assertTrue({ collection, key, before, after, outcome }: Change, driver: Driver): Promise<void> {
  if (outcome instanceof UnknownOutcomeError) return; // both are possible
  const text = await driver[collection].read(key);
  if (outcome instanceof StoreUnavailableError) assert.equal(text, before, 'A change that failed surely was made');
  // No other client changes the text: `false` means that the store repeated its own change after a lost answer.
  else assert.equal(text, after, `A change that ended with ${String(outcome)} was not made`);
}

/** The last change of each text: it hides what became of an earlier one. */
export function latest(changes: readonly Change[]): Change[] {
  return [...new Map(changes.map((change) => [change.key, change])).values()];
}
