import type { Client as HazelcastClient } from 'hazelcast-client';
import { quoted } from '../../../core/decision/texts/hidden-characters.js';
import { StoreUnavailableError } from '../../../core/store/store.errors.js';
import { mutexOf } from '../client-patches/lock-owner.js';
import { isRefusedForQuorum, readFailure } from '../failures.js';
import type { KeyedMutex } from '../../../core/async/keyed-mutex.js';
import { type Backoff, pauseAfter } from '../../../core/async/backoff.js';
import { systemClock } from '../../../core/async/node-clock.js';
import { pause } from '../../../core/async/pause.js';
import { MapRecords, type TextMap } from './map-texts.js';

const CONTENTION: Backoff = { first: 2, longest: 30, jitter: 1 };

/** Limits of calls in one session. */
export interface Limits {
  /** Timeout of a call, in ms. */
  readonly callTimeout: number;
  /** Aborts when the connection is gone, or the store is closed. */
  readonly ended: AbortSignal;
}

/**
 * Pessimistic records: a compare-and-set under the entry's lock. The lock avoids failed writes of contenders. It does
 * not make a write safe, because a frozen holder may wake after its lease and write. So the write under the lock is the
 * same atomic compare-and-set as without the lock.
 *
 * For the same reason it is safe to take the lock from its holder by force. This is necessary: members count a lease
 * with their clocks, so a clock that is set back would extend the lock. Without the end of the lease, members free the
 * lock of a killed client only when they notice its death, and the lock of a frozen client never.
 */
export class LockedRecords extends MapRecords {
  readonly #mutex: KeyedMutex;
  /** Lease of a lock, in ms. Short enough that a call right after a holder's death still gets the lock in time. */
  readonly #lease: number;
  /** The error of the last failed request for a lock. */
  #failure?: unknown;
  /** A call that is refused for longer than this, in ms, takes the lock by force. */
  readonly #patience: number;

  constructor(
    map: TextMap,
    client: HazelcastClient,
    private readonly limits: Limits,
  ) {
    super(map, client);
    this.#mutex = mutexOf(client);
    this.#lease = Math.ceil(limits.callTimeout / 4);
    this.#patience = 2 * this.#lease;
  }

  override async compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean> {
    const began = performance.now();
    // After this time the caller has long given up. Then concurrent writes are safe because of their comparison.
    const longest = 2 * this.limits.callTimeout;
    const endTurn = await this.#mutex.lock(`${this.map.getName()}/${key}`, longest);
    if (this.#isLate(began)) {
      endTurn();
      this.#giveUp(key);
    }
    try {
      return (await this.#lock(key, expected, began)) && (await super.compareAndSet(key, expected, next));
    } finally {
      // Only the next turn waits for this. If the unlock fails, the lease ends the lock.
      void this.map
        .unlock(key)
        .catch(() => undefined)
        .finally(endTurn);
    }
  }

  /**
   * Takes the lock. Asks repeatedly and never queues at the members: a queued request was answered up to ten seconds
   * after the lease had ended.
   *
   * @returns false if the record is no longer as expected, so that waiting is useless
   * @throws StoreUnavailableError if the lock could not be taken in time; surely nothing was written
   */
  async #lock(key: string, expected: string | undefined, began: number): Promise<boolean> {
    const refused = performance.now();
    for (let tries = 0; !this.#isLate(began); tries++) {
      // A late lock is useless, because nothing may be written after the caller gave up.
      if (await this.#tryLock(key)) return this.#isLate(began) ? this.#giveUp(key) : true;
      if (await this.#isOutdated(key, expected)) return false;
      if (performance.now() - refused > this.#patience) await this.#force(key);
      else await this.#pause(tries);
    }
    return this.#giveUp(key);
  }

  #isLate(began: number): boolean {
    const { callTimeout, ended } = this.limits;
    return ended.aborted || performance.now() - began >= callTimeout;
  }

  /**
   * A lost answer, for example after a member's death, counts as a refusal. If the lock was taken, the next try gets
   * it.
   */
  async #tryLock(key: string): Promise<boolean> {
    try {
      const isLocked = await this.map.tryLock(key, 0, this.#lease);
      this.#failure = undefined;
      return isLocked;
    } catch (error) {
      if (isRefusedForQuorum(error)) throw readFailure(error);
      this.#failure = error;
      return false;
    }
  }

  async #isOutdated(key: string, expected: string | undefined): Promise<boolean> {
    try {
      return ((await this.map.get(key)) ?? undefined) !== expected;
    } catch (error) {
      throw readFailure(error);
    }
  }

  /** Takes the lock away from its holder. If this fails, the next try repeats it. */
  async #force(key: string): Promise<void> {
    await this.map.forceUnlock(key).catch(() => undefined);
  }

  async #pause(tries: number): Promise<void> {
    await pause(systemClock, pauseAfter(tries, Math.random(), CONTENTION), { signal: this.limits.ended });
  }

  #giveUp(key: string): never {
    const { callTimeout, ended } = this.limits;
    const cause = this.#failure;
    const why = ended.aborted ? 'the connection was lost' : cause ? (cause as Error).message : 'others hold it';
    throw new StoreUnavailableError(
      `The lock of record ${quoted(key)} could not be taken within ${callTimeout} ms (${why}), ` +
        'so that nothing was written: try again',
      { cause },
    );
  }
}
