import { strict as assert } from 'node:assert';
import { StoreUnavailableError, UnknownOutcomeError } from '../../core/store/store.errors.js';
import type { RecordStore } from '../../core/store/store.js';

/** A write of the text "written" under a new key, and how its call ended. */
export interface NewRecord {
  readonly key: string;
  readonly outcome: boolean | Error;
}

export async function attempt(store: RecordStore, key: string): Promise<NewRecord> {
  const outcome = await store.compareAndSet(key, undefined, 'written').catch((error: Error) => error);
  return { key, outcome };
}

/** @param store is connected */
export async function assertTrue({ key, outcome }: NewRecord, store: RecordStore): Promise<void> {
  if (outcome instanceof UnknownOutcomeError) return; // both are possible
  const text = await store.read(key);
  if (outcome instanceof StoreUnavailableError) assert.equal(text, undefined, 'A write that failed surely is there');
  // The key was new: `false` means that the store repeated its own write after a lost answer.
  else assert.equal(text, 'written', `A write that ended with ${String(outcome)} is not there`);
}
