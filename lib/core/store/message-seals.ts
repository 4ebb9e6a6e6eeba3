import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type NodeClock, systemClock } from '../async/node-clock.js';
import { withoutDoubt } from '../decision/index.js';

/**
 * Hints are messages between nodes, on channels that others may use: any role may NOTIFY in a database of PostgreSQL, and
 * on Redis a user may have the right to PUBLISH and no other. So each hint has a seal, which only a reader of the store
 * can make:
 *
 *     seal    = MAC (22 characters), sender (8), number of the message (6)
 *     MAC     = HMAC-SHA256 under the hint key, of scope, sender, number and body; its first 16 bytes
 *     scope   = the channel: the schema, the key prefix, or the name of the map
 *     body    = kind, key and text of the hint, as the store sends them
 *     key     = a random text under {@link HINT_KEY} in the store, which the first node creates
 *
 * | a message with                            | is       | and its text                                            |
 * | ----------------------------------------- | -------- | ------------------------------------------------------- |
 * | the right seal                            | proven   | counts like one that was read                           |
 * | a seal that this node has heard           | repeated | is dropped                                              |
 * | no seal, or another one, for example cut  | unproven | is dropped: it only wakes, see `foreign-messages.ts`    |
 *
 * A node that has not read the key sends hints without a seal, and all messages are unproven for it. When it hears an
 * unproven message, it reads the key again, at most once per {@link PAUSE}: so nodes agree soon after the key was replaced.
 * If the store lost the key with its other data, the node puts back the one that it knows.
 */
export class MessageSeals {
  #place: HintKeyPlace | undefined;
  #key: string | undefined;
  #loadedAt = -Infinity;
  /** Tells the messages of two clients apart, and those of one client. */
  readonly #sender = randomBytes(6).toString('base64url');
  #sent = 0;
  /** MACs of the latest proven messages. */
  readonly #heard = new Set<string>();

  constructor(private readonly clock: Pick<NodeClock, 'monotonic'> = systemClock) {}

  /**
   * Reads the key, and creates it if there is none. Call this for each new session. Never rejects: without the key, hints
   * only wake.
   */
  async load(place: HintKeyPlace): Promise<void> {
    this.#place = place;
    this.#loadedAt = this.clock.monotonic();
    try {
      const found = usable(await place.read()) ?? (await this.#created(place));
      // A session that ended meanwhile may have asked another server.
      if (this.#place === place) this.#key = found ?? this.#key;
    } catch {} // the next message has it read again, and the store reports why calls fail
  }

  /** Reads the key again, unless that was done within the last {@link PAUSE} ms. Never rejects. */
  async refresh(): Promise<void> {
    if (this.#place && this.clock.monotonic() - this.#loadedAt >= PAUSE) await this.load(this.#place);
  }

  /** Whether this node has read the key. */
  get isReady(): boolean {
    return this.#key !== undefined;
  }

  /** The seal of a hint that is about to be sent; a blank one if this node has no key. */
  sealOf(scope: string, body: string): string {
    if (this.#key === undefined) {
      void this.refresh();
      return BLANK;
    }
    const stamp = this.#sender + (this.#sent++ % MOST_SENT).toString(36).padStart(NUMBER, '0');
    return macOf(this.#key, scope, stamp, body) + stamp;
  }

  /** Whether a hint comes from a node of this cluster. */
  judge(seal: string, scope: string, body: string): Verdict {
    const mac = seal.slice(0, MAC);
    if (this.#heard.has(mac)) return 'repeated';
    if (this.#key === undefined || seal.length !== SEAL || body.length > LONGEST_BODY) return 'unproven';
    if (!areEqual(mac, macOf(this.#key, scope, seal.slice(MAC), body))) return 'unproven';
    this.#heard.add(mac);
    if (this.#heard.size > MOST_HEARD) this.#heard.delete(this.#heard.values().next().value!);
    return 'proven';
  }

  async #created(place: HintKeyPlace): Promise<string | undefined> {
    await place.create(this.#key ?? randomBytes(32).toString('base64url'));
    return usable(await place.read());
  }
}

export type Verdict = 'proven' | 'repeated' | 'unproven';

/** The place of the key in a store. Its methods may reject. */
export interface HintKeyPlace {
  read(): Promise<string | undefined>;
  /** Writes the key if there is none. */
  create(key: string): Promise<unknown>;
}

/** Name of the hint key in the store. It never changes, unless an operator replaces it. */
export const HINT_KEY = 'hint-key';

/** ms between two readings of the key because of messages. */
const PAUSE = 1000;

/** Characters of the parts of a seal. */
const [MAC, SENDER, NUMBER] = [22, 8, 6];
export const SEAL = MAC + SENDER + NUMBER;
const BLANK = ' '.repeat(SEAL);
const MOST_SENT = 36 ** NUMBER;

/** Characters of 32 random bytes. */
const SHORTEST_KEY = 43;
/** Longer than any record. To compute the MAC of a longer text would block the event loop. */
const LONGEST_BODY = 4_000_000;
/** 4,096 MACs take some 300 kB. */
const MOST_HEARD = 4096;

function macOf(key: string, scope: string, stamp: string, body: string): string {
  const mac = createHmac('sha256', key).update(`${stamp}${scope.length}:${scope}${body}`).digest();
  return mac.toString('base64url', 0, 16);
}

/** @returns undefined for a text that could be guessed: this package writes none. A doubted key is as good as any */
function usable(text: string | undefined): string | undefined {
  const key = withoutDoubt(text ?? '');
  return key.length >= SHORTEST_KEY ? key : undefined;
}

/** Takes the same time wherever the two differ. */
function areEqual(given: string, expected: string): boolean {
  const bytes = Buffer.from(given);
  return bytes.length === expected.length && timingSafeEqual(bytes, Buffer.from(expected));
}
