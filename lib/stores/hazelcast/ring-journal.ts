import type { ReadResultSet, Ringbuffer } from 'hazelcast-client';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';
import type { Journal } from '../../core/store/driver.js';
import { portionsOf } from '../../core/store/text-batches.js';
import { type Calls, oncePerSession, type PartOf } from './calls.js';
import { isUnreadable, textOf, unreadableText } from './texts/foreign-value.js';

/** Largest number of texts per call. */
const MOST_AT_ONCE = 1000;

/**
 * A journal in a Ringbuffer. The members' configuration sets its capacity (default 10,000). Each call uses the current
 * session, because connections change.
 */
export class RingJournal implements Journal {
  readonly #ring: PartOf<Ringbuffer<string>>;

  constructor(
    readonly name: string,
    private readonly calls: Calls,
  ) {
    this.#ring = oncePerSession(({ client }) => client.getRingbuffer<string>(name));
  }

  append(texts: readonly string[]): Promise<void> {
    const add = async (ring: Ringbuffer<string>) => {
      const { OVERWRITE } = loadHazelcastClient().OverflowPolicy;
      for (const some of portionsOf(texts, MOST_AT_ONCE)) await ring.addAll(some, OVERWRITE);
    };
    return this.calls.writing(this.#ring, add, { isForPeople: true });
  }

  read(limit: number): Promise<string[]> {
    return this.calls.reading(this.#ring, (ring) => lastOf(ring, limit));
  }
}

/** Reads the last texts. If texts are dropped meanwhile, the members continue with the oldest remaining text. */
async function lastOf(ring: Ringbuffer<string>, limit: number): Promise<string[]> {
  const [head, tail] = (await Promise.all([ring.headSequence(), ring.tailSequence()])).map(Number);
  const texts: string[] = [];
  let next = Math.max(head!, tail! - limit + 1);
  while (next <= tail!) {
    const read = await ring.readMany(next, 1, Math.min(MOST_AT_ONCE, tail! - next + 1));
    for (let index = 0; index < read.size(); index++) texts.push(textAt(read, index));
    next = Number(read.getNextSequenceToReadFrom());
  }
  return texts.slice(-limit);
}

/** A foreign value becomes a text that no codec accepts as an entry, so that other entries stay readable. */
function textAt(read: ReadResultSet<unknown>, index: number): string {
  try {
    return textOf(read.get(index));
  } catch (error) {
    if (isUnreadable(error)) return unreadableText(error);
    throw error;
  }
}
