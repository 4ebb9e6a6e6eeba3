import { SEAL } from '../../../core/store/hint-seals.js';
import type { Calls } from '../calls.js';

/** Largest payload of a notification, in bytes: PostgreSQL needs it to be shorter than 8,000. */
const LARGEST_PAYLOAD = 7999;
/** Largest number of notifications in one statement. */
const MOST_AT_ONCE = 500;
/** Largest number of notifications that wait for the one under way. */
const MOST_WAITING = 10_000;

const NOTIFY = {
  name: 'gatekeeper.notify',
  text: `SELECT pg_catalog.pg_notify(channel, payload)
    FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[])) AS each(channel, payload)`,
};

/** A message between clients: the payload of a notification is its seal (`hint-seals.ts`) and its JSON. */
export type Message =
  /** A record has a new text. Without the text, the receiver reads it. */
  | readonly ['changed', from: string, key: string, text?: string]
  /** A client waits for a key; see Waiters. */
  | readonly ['waits', entry: string]
  /** A queue has a new hint. */
  | readonly ['offered', queue: string]
  /** The sender's test whether notifications arrive. */
  | readonly ['ping'];

/**
 * Sends messages to other clients, in their order. One statement at a time sends all that came meanwhile: PostgreSQL
 * commits transactions with notifications one after another in the whole database, so they must be few. They are not part
 * of the writes that they tell of, so that no write to the disk happens under that lock.
 */
export class Outbox {
  /** By channel and subject, so that a later message replaces an earlier one with the same subject. */
  readonly #waiting = new Map<string, { readonly channel: string; readonly payload: string }>();
  #isSending = false;

  constructor(
    private readonly calls: Pick<Calls, 'runAnyway'>,
    private readonly sealOf: (body: string) => string,
  ) {}

  /** Does not wait for the server, because messages are only hints. */
  send(channel: string, message: Message): void {
    const subject = `${channel} ${message[0]} ${message[0] === 'changed' ? message[2] : message[1]}`;
    if (this.#waiting.size >= MOST_WAITING) return;
    this.#waiting.delete(subject);
    this.#waiting.set(subject, { channel, payload: payloadOf(message, this.sealOf) });
    if (!this.#isSending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.size > 0) {
      const some = [...this.#waiting].slice(0, MOST_AT_ONCE);
      for (const [subject] of some) this.#waiting.delete(subject);
      const sent = some.map(([, each]) => each);
      const values = [sent.map(({ channel }) => channel), sent.map(({ payload }) => payload)];
      // Only hints; calls find out what is wrong with the server. Clients send them before calls may be made, too.
      await this.calls.runAnyway(NOTIFY, values).catch(() => undefined);
    }
    this.#isSending = false;
  }
}

/** A message that is too long goes without its text. */
export function payloadOf(message: Message, sealOf: (body: string) => string): string {
  const body = JSON.stringify(message);
  const isLong = message[0] === 'changed' && SEAL + Buffer.byteLength(body) > LARGEST_PAYLOAD;
  const sent = isLong ? JSON.stringify(message.slice(0, 3)) : body;
  return sealOf(sent) + sent;
}
