import { strict as assert } from 'node:assert';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailableError, UnknownOutcomeError } from '../../stores/store.errors.js';
import type { RecordStore } from '../../stores/store.js';
import { eventually } from './eventually.js';

/** Flows that write at once. */
const FLOWS = 10;

/** Texts under new keys, in a part of a store. */
export interface NewTexts {
  newKey(): string;
  /** @returns whether the text was written */
  write(key: string, text: string): Promise<boolean>;
}

export function newTextsOf(store: RecordStore, newKey: () => string): NewTexts {
  return { newKey, write: (key, text) => store.compareAndSet(key, undefined, text) };
}

/** A write of the text "written" under a new key, and how its call ended. */
export interface NewText {
  readonly key: string;
  readonly outcome: boolean | Error;
}

/**
 * Writes new texts in several flows, each until its first write that fails.
 *
 * @param stop makes the writes fail; gets a promise that resolves when all flows have ended
 */
export async function writeUntil(
  texts: readonly NewTexts[],
  stop: (all: Promise<unknown>) => Promise<unknown>,
): Promise<NewText[]> {
  const written: NewText[] = [];
  const flow = async (some: NewTexts, index: number) => {
    // The flows must not be in step: then all writes could be between two calls when `stop` comes.
    for (let turn = 0; turn < index; turn++) await nextTurn();
    for (let outcome: NewText['outcome'] = true; outcome === true;) {
      const key = some.newKey();
      outcome = await some.write(key, 'written').catch((error: Error) => error);
      written.push({ key, outcome });
      // A store in memory answers without a turn of the event loop.
      await nextTurn();
    }
  };
  const flows = Promise.all(Array.from({ length: FLOWS }, (_, index) => flow(texts[index % texts.length]!, index)));
  await eventually('writes are under way', () => written.length > FLOWS * 5);
  await stop(flows);
  await flows;
  return written;
}

/** @param read reads with a client that is connected */
export async function assertTrue(
  { key, outcome }: NewText,
  read: (key: string) => Promise<string | undefined>,
): Promise<void> {
  if (outcome instanceof UnknownOutcomeError) return; // both are possible
  const text = await read(key);
  if (outcome instanceof StoreUnavailableError) assert.equal(text, undefined, 'A write that failed surely is there');
  // The key was new: `false` means that the store repeated its own write after a lost answer.
  else assert.equal(text, 'written', `A write that ended with ${String(outcome)} is not there`);
}
