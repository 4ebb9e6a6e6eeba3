import { type NodeClock, systemClock } from '../async/node-clock.js';
import { Periodic } from '../async/periodic.js';
import { AwaitedKeys } from './awaited-keys.js';

/** ms for which other clients assume that a client still waits. */
const LIFETIME = 15_000;
/** ms after which a client that still waits announces that again. */
const RENEWAL = 5000;
/** Keys of which a client knows others that wait, and such others of one key. Of more, they hear late. */
const MOST_KEPT = 10_000;
const NONE: readonly string[] = [];

/**
 * Tracks which clients wait for which keys, so that a release notifies only those. Each client announces its waits by
 * entries in a map that all clients listen to, at most once per key and half a {@link RENEWAL}. So frequent waits cost
 * little.
 *
 * An announcement is only a hint. Other clients may not know it yet, so a waiting client also looks at its key from
 * time to time.
 */
export class Waiters {
  readonly #own = new AwaitedKeys();
  /** Keys with the time of this client's last announcement, the oldest first. */
  readonly #said = new Map<string | undefined, number>();
  /**
   * Keys with the other clients that wait, each with the end of its wait. The key with the oldest announcement first.
   */
  readonly #others = new Map<string, Map<string, number>>();
  readonly #renewal: Periodic;
  #say: ((entry: string, lifetime: number) => void) | undefined;

  constructor(
    /** Unique name of this client, without blanks. */
    readonly id: string,
    private readonly clock: NodeClock = systemClock,
  ) {
    this.#renewal = new Periodic(clock, async () => this.#renew(), {
      interval: () => RENEWAL,
      chance: Math.random,
      onError: () => undefined, // the work never fails
    });
    this.#renewal.start();
  }

  /** Call this for each new connection. @param say puts an entry into the map, with a lifetime in ms */
  connect(say: (entry: string, lifetime: number) => void): void {
    this.#say = say;
    this.#said.clear();
    this.#renew();
  }

  /**
   * Announces that this client waits for a key (undefined: for all keys). Call the returned function to end the wait.
   */
  add(key: string | undefined): () => void {
    const end = this.#own.add(key);
    this.#sayOnce(key);
    return end;
  }

  /** Records another client's entry. */
  note(entry: string): void {
    const [id, key] = split(entry);
    const waiting = this.#others.get(key) ?? new Map<string, number>();
    const isFull = waiting.size === 0 ? this.#others.size >= MOST_KEPT : waiting.size >= MOST_KEPT && !waiting.has(id);
    if (isFull) return this.#forget();
    this.#others.delete(key);
    this.#others.set(key, waiting.set(id, this.clock.monotonic() + LIFETIME));
    this.#forget();
  }

  /** The other clients that wait for `key`. */
  of(key: string): readonly string[] {
    if (!this.#others.has(key) && !this.#others.has('')) return NONE;
    const now = this.clock.monotonic();
    const waiting = [...(this.#others.get(key) ?? []), ...(this.#others.get('') ?? [])];
    return [...new Set(waiting.filter(([, until]) => until > now).map(([id]) => id))];
  }

  /** Whether this client waits for `key`. */
  isOwn(key: string): boolean {
    return this.#own.has(key);
  }

  /** Number of keys in memory. */
  get size(): number {
    return this.#others.size + this.#said.size;
  }

  close(): void {
    this.#renewal.stop();
    this.#say = undefined;
  }

  #renew(): void {
    for (const key of this.#own) this.#sayOnce(key);
    const now = this.clock.monotonic();
    for (const [key, at] of this.#said) {
      if (now - at < RENEWAL) break;
      this.#said.delete(key);
    }
  }

  #sayOnce(key: string | undefined): void {
    const now = this.clock.monotonic();
    const last = this.#said.get(key);
    // Half, because the renewal is jittered and may come early.
    if (!this.#say || (last !== undefined && now - last < RENEWAL / 2)) return;
    this.#said.delete(key);
    this.#said.set(key, now);
    this.#say(`${this.id} ${key ?? ''}`, LIFETIME);
  }

  /** Forgets keys without an announcement during the last lifetime. They are first in the map. */
  #forget(): void {
    const now = this.clock.monotonic();
    for (const [key, waiting] of this.#others) {
      if (Math.max(...waiting.values()) > now) break;
      this.#others.delete(key);
    }
  }
}

function split(entry: string): [id: string, key: string] {
  const blank = entry.indexOf(' ');
  return [entry.slice(0, blank), entry.slice(blank + 1)];
}
