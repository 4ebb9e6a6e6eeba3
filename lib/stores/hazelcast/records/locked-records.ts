import type { IMap } from 'hazelcast-client';
import { quoted } from '../../../decision/texts/hidden-characters.js';
import { StoreUnavailableError } from '../../store.errors.js';
import { isRefusedForQuorum, readFailure } from '../failures.js';
import { type Backoff, pauseAfter } from '../../../async/backoff.js';
import { systemClock } from '../../../async/node-clock.js';
import { pause } from '../../../async/pause.js';
import { MapRecords } from './map-records.js';
import type { KeyedMutex } from '../../../async/keyed-mutex.js';

const CONTENTION: Backoff = { first: 2, longest: 30, jitter: 1 };

interface LockOptions {
  readonly mutex: KeyedMutex;
  /** The longest that a call may take, in ms. */
  readonly callTimeout: number;
  /** Aborts when the connection is gone, or the store is closed. */
  readonly ended: AbortSignal;
}

/**
 * Pessimistic: a compare-and-set under the entry's lock. The lock spares contenders failed writes. It can't make a write
 * safe, because a holder that was frozen wakes after its lease and writes. So a write under the lock is the same atomic
 * compare-and-set as without it.
 *
 * For the same reason the lock may be taken from its holder by force. This is necessary: members count a lease
 * by their clocks, so a clock that is set back would extend the lock. Without the end of the lease, members free the lock of
 * a killed client only when they notice its death, and the lock of a frozen client never.
 */
export class LockedRecords extends MapRecords {
  /** A dead holder's lock ends well within the time of a call that comes right after it. */
  readonly #lease: number;
  /** The error of the last failed request for a lock. */
  #failure?: unknown;
  /** A call that was refused for longer takes the lock by force. */
  readonly #patience: number;

  constructor(
    map: IMap<string, unknown>,
    readonly options: LockOptions,
    partitionKeys: () => readonly string[] = () => [],
  ) {
    super(map, partitionKeys);
    this.#lease = Math.ceil(options.callTimeout / 4);
    this.#patience = 2 * this.#lease;
  }

  override async compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean> {
    const began = performance.now();
    // By then the caller has given up long ago, and concurrent writes are safe by their comparison.
    const longest = 2 * this.options.callTimeout;
    const endTurn = await this.options.mutex.lock(`${this.map.getName()}/${key}`, longest);
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
   * Asks repeatedly instead of queueing: a queued request was answered up to ten seconds after the lease had ended.
   *
   * @returns false when the record is no longer as expected: its writer held the lock, and waiting is pointless
   * @throws StoreUnavailableError when the lock could not be taken in time; surely nothing was written
   */
  async #lock(key: string, expected: string | undefined, began: number): Promise<boolean> {
    const isLate = () => this.#isLate(began);
    const refused = performance.now();
    for (let tries = 0; !isLate(); tries++) {
      // A late lock is useless: no write may follow after the caller gave up.
      if (await this.#tryLock(key)) return isLate() ? this.#giveUp(key) : true;
      if (await this.#isOutdated(key, expected)) return false;
      if (performance.now() - refused > this.#patience) await this.#force(key);
      else await this.#pause(tries);
    }
    return this.#giveUp(key);
  }

  #isLate(began: number): boolean {
    const { callTimeout, ended } = this.options;
    return ended.aborted || performance.now() - began >= callTimeout;
  }

  /** A lost answer, as when a member dies, counts as a refusal: if the lock was taken after all, the next try gets it. */
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

  /** If this fails, the next try repeats it. */
  async #force(key: string): Promise<void> {
    await this.map.forceUnlock(key).catch(() => undefined);
  }

  async #pause(tries: number): Promise<void> {
    await pause(systemClock, pauseAfter(tries, Math.random(), CONTENTION), { signal: this.options.ended });
  }

  #giveUp(key: string): never {
    const { callTimeout, ended } = this.options;
    const cause = this.#failure;
    const why = ended.aborted ? 'the connection was lost' : cause ? (cause as Error).message : 'others hold it';
    throw new StoreUnavailableError(
      `The lock of record ${quoted(key)} could not be taken within ${callTimeout} ms (${why}), ` +
        'so that nothing was written: try again',
      { cause },
    );
  }
}
