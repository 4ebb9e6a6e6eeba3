import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { StoreUnavailableError, UnknownOutcomeError } from '../../core/store/store.errors.js';
import type { Texts } from '../../core/store/task-storage.js';

/** A change of one text, and how its call ended. */
export interface Change {
  readonly key: string;
  /** The text before the change, and after it. Undefined: none. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** True: it was made. False: the text was another one. */
  readonly outcome: boolean | Error;
}

/** Creates a text, replaces it, removes it, and begins again with another key. */
export async function next(former: Change | undefined, texts: Texts): Promise<Change> {
  const { key, after: before } = former?.after === undefined ? { key: randomUUID() } : former;
  const after = before === undefined ? 'created' : before === 'created' ? 'replaced' : undefined;
  const outcome = await made(texts, key, before, after).catch((error: Error) => error);
  return { key, before, after, outcome };
}

async function made(texts: Texts, key: string, before?: string, after?: string): Promise<boolean> {
  if (before === undefined) return (await texts.create(key, after!)) === undefined;
  return after === undefined ? texts.remove(key, before) : texts.replace(key, before, after);
}

/** @param texts of a client that is connected */
export async function assertTrue({ key, before, after, outcome }: Change, texts: Texts): Promise<void> {
  if (outcome instanceof UnknownOutcomeError) return; // both are possible
  const text = await texts.read(key);
  if (outcome instanceof StoreUnavailableError) assert.equal(text, before, 'A change that failed surely was made');
  // No other client changes the text: `false` means that the store repeated its own change after a lost answer.
  else assert.equal(text, after, `A change that ended with ${String(outcome)} was not made`);
}

/** The last change of each text: it hides what became of an earlier one. */
export function latest(changes: readonly Change[]): Change[] {
  return [...new Map(changes.map((change) => [change.key, change])).values()];
}
