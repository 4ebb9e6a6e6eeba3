import type { Client as HazelcastClient, ReadResultSet, Ringbuffer } from 'hazelcast-client';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';
import type { Journal } from '../../core/store/store.js';
import { readFailure, writeFailure } from './failures.js';
import { isUnreadable, textOf, unreadableText } from './records/foreign-value.js';

/** Largest number of texts per call. */
const MOST_AT_ONCE = 1000;

interface Connected {
  readonly client: HazelcastClient;
}

/**
 * A journal in a Ringbuffer. The members' configuration sets its capacity (default 10,000). Each call uses the current
 * session, because connections change.
 */
export class RingJournal implements Journal {
  constructor(
    readonly name: string,
    private readonly connected: () => Connected | Promise<Connected>,
  ) {}

  async append(texts: readonly string[]): Promise<void> {
    const ring = await this.#ring();
    try {
      for (let at = 0; at < texts.length; at += MOST_AT_ONCE) {
        await ring.addAll(texts.slice(at, at + MOST_AT_ONCE), loadHazelcastClient().OverflowPolicy.OVERWRITE);
      }
    } catch (error) {
      throw writeFailure(error);
    }
  }

  async read(limit: number): Promise<string[]> {
    const ring = await this.#ring();
    try {
      return await lastOf(ring, limit);
    } catch (error) {
      throw readFailure(error);
    }
  }

  async #ring(): Promise<Ringbuffer<string>> {
    const { client } = await this.connected();
    try {
      return await client.getRingbuffer<string>(this.name);
    } catch (error) {
      throw readFailure(error);
    }
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
