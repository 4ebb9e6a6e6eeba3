import { randomUUID } from 'node:crypto';
import { ForeignMessages } from '../../../core/store/foreign-messages.js';
import { type HintKeyPlace, MessageSeals, SEAL } from '../../../core/store/message-seals.js';
import type { Notify } from '../../../core/store/driver.js';
import { Waiters } from '../../../core/store/waiters.js';
import type { Server } from '../server.js';
import { ChangePoller, type PolledParts } from './change-poller.js';
import { LARGEST_PAYLOAD, Listener, Outbox } from './notifications.js';

/** A message between clients: the payload of a notification is its seal (`message-seals.ts`) and its JSON. */
type Message =
  /** A record has a new text. Without the text, the receiver reads it. */
  | readonly ['changed', from: string, key: string, text?: string]
  /** A client waits for a key; see Waiters. */
  | readonly ['waits', entry: string]
  /** A queue has a new hint. */
  | readonly ['offered', queue: string]
  /** The sender's test whether notifications arrive. */
  | readonly ['ping'];

interface Parts extends PolledParts {
  readonly server: Server;
  /** Aborts when the store is closed. */
  readonly closing: AbortSignal;
  readonly records: PolledParts['records'] & { readonly keyPlace: HintKeyPlace };
}

interface Settings {
  /** Whether to listen; otherwise changes are only polled. */
  readonly notifications: boolean;
  /** ms */
  readonly pollInterval: number;
  /** Name of this node, so that it gets no hints of its own writes; if absent, it gets them. */
  readonly writer: string | undefined;
  readonly onUnproven: ((count: number) => void) | undefined;
  /** Whether changes are awaited at all; otherwise this client neither listens nor polls. */
  readonly hearsChanges: boolean;
}

/**
 * Tells of changes that nodes wait for. All clients listen on one channel, named after the schema. Each also has a channel
 * of its own: a release goes only to clients that have said that they wait for that record.
 *
 * Any role of the database may listen to these channels and send to them, so only messages with a seal are believed.
 *
 * While no notifications arrive, this client polls.
 */
export class ChangeFeed {
  readonly #id = randomUUID();
  readonly #waiters = new Waiters(this.#id);
  readonly #seals = new MessageSeals();
  readonly #foreign: ForeignMessages;
  readonly #outbox: Outbox;
  readonly #listener: Listener | undefined;
  readonly #poller: ChangePoller;
  readonly #channel: string;

  constructor(
    private readonly parts: Parts,
    private readonly settings: Settings,
  ) {
    const { calls, tables, polls, announcer } = parts;
    this.#channel = tables.schema;
    this.#outbox = new Outbox(calls);
    this.#foreign = new ForeignMessages({
      refresh: () => this.#seals.refresh(),
      changed: (key) => announcer.unproven(key),
      offered: (queue) => polls.wake(queue),
      counted: settings.onUnproven,
    });
    const isNeeded = () => settings.hearsChanges && this.#listener?.isConnected !== true;
    this.#poller = new ChangePoller(parts, settings.pollInterval, isNeeded);
    this.#listener = settings.notifications && settings.hearsChanges ? this.#listen() : undefined;
  }

  /** Announces that this client waits for `key` (undefined: for all keys). Call the returned function to end the wait. */
  awaitChanges(key: string | undefined): () => void {
    const ends = [this.#poller.awaited.add(key), this.#waiters.add(key)];
    return () => {
      for (const end of ends) end();
    };
  }

  /** Tells other clients of a new text. Does not wait for the server, because hints are not reliable anyway. */
  announce(key: string, text: string, notify: Notify): void {
    const message = ['changed', this.#id, key, text] as const;
    for (const channel of this.#receivers(key, notify)) this.#send(channel, message);
  }

  /** Tells other clients that a queue has a new hint. Without notifications, all poll. */
  offered(queue: string): void {
    if (this.settings.notifications) this.#send(this.#channel, ['offered', queue]);
    else this.parts.polls.wake(queue);
  }

  /** The notification of a new hint, for a transaction that sends it with its commit; undefined if all clients poll. */
  noticeOf(queue: string): readonly [channel: string, payload: string] | undefined {
    return this.settings.notifications ? [this.#channel, this.#payloadOf(['offered', queue])] : undefined;
  }

  /** Waits for the first attempt to listen, for a limited time, so that no change after the start is missed. */
  async prepare(): Promise<void> {
    if (!this.#listener) return;
    const { calls, records } = this.parts;
    await Promise.all([this.#listener.firstAttempt.wait(calls.timeout), this.#seals.load(records.keyPlace)]);
  }

  /** Call this when the server can serve, for the first time or again. */
  opened(): void {
    this.#listener?.hurry();
    // The client may have listened before it had the key.
    if (this.#listener?.isConnected) this.#announceWaits();
    this.#poller.forget();
    this.parts.announcer.anything();
    this.parts.polls.wakeAll();
  }

  /** Ends everything that is not ended by the closing signal. */
  async close(): Promise<void> {
    this.#poller.stop();
    this.#waiters.close();
    this.#foreign.close();
    await this.#listener?.ended;
  }

  #listen(): Listener {
    const { server, calls, polls, announcer, closing } = this.parts;
    const own = channelOf(this.#channel, this.#id);
    const needs = {
      channels: [this.#channel, own],
      connect: server.dedicated.bind(server),
      ping: () => this.#send(own, ['ping']),
      deadline: () => calls.deadline(),
      closing,
    };
    const connected = () => {
      this.#announceWaits();
      announcer.anything();
      polls.wakeAll();
    };
    return new Listener(needs, { connected, message: (payload) => this.#receive(payload) });
  }

  #receivers(key: string, notify: Notify): readonly string[] {
    if (notify === 'none') return [];
    if (notify === 'all') return [this.#channel];
    const hearsItself = this.settings.writer === undefined && this.#waiters.isOwn(key);
    const ids = hearsItself ? [...this.#waiters.of(key), this.#id] : this.#waiters.of(key);
    return ids.map((id) => channelOf(this.#channel, id));
  }

  /** Without a seal, no client would believe it. */
  #announceWaits(): void {
    this.#waiters.connect((entry) => {
      if (this.#seals.isReady) this.#send(this.#channel, ['waits', entry]);
    });
  }

  #send(channel: string, message: Message): void {
    const subject = `${message[0]} ${message[0] === 'changed' ? message[2] : message[1]}`;
    this.#outbox.send(channel, subject, this.#payloadOf(message));
  }

  /** A message that is too long goes without its text. */
  #payloadOf(message: Message): string {
    const body = JSON.stringify(message);
    const isLong = message[0] === 'changed' && SEAL + Buffer.byteLength(body) > LARGEST_PAYLOAD;
    const sent = isLong ? JSON.stringify(message.slice(0, 3)) : body;
    return this.#seals.sealOf(this.#channel, sent) + sent;
  }

  #receive(payload: string): void {
    const [seal, body] = [payload.slice(0, SEAL), payload.slice(SEAL)];
    const message = messageIn(body);
    const [kind, from, key] = message;
    // A ping needs no seal: from any sender it shows that messages arrive.
    if (kind === 'ping') return this.#listener?.ponged();
    if (this.#isOwn(message)) return;
    const verdict = this.#seals.judge(seal, this.#channel, body);
    if (verdict === 'proven') this.#take(message);
    if (verdict !== 'unproven') return;
    this.#foreign.note(kind === 'offered' ? { queue: from } : { ...(key !== undefined && { key }) });
  }

  #isOwn([kind, from]: ReturnType<typeof messageIn>): boolean {
    if (kind === 'waits') return from.startsWith(`${this.#id} `);
    return kind === 'changed' && from === this.#id && this.settings.writer !== undefined;
  }

  #take([kind, from, key, text]: ReturnType<typeof messageIn>): void {
    if (kind === 'offered') this.parts.polls.wake(from);
    if (kind === 'waits') this.#waiters.note(from);
    if (kind === 'changed' && key !== undefined) void this.parts.announcer.changed(key, text);
  }
}

/** At most 63 bytes, as PostgreSQL's names are. */
const channelOf = (channel: string, id: string) => `${channel}:${id.slice(0, 18)}`;

/** Another program may use the channel: its messages have no meaning here. */
function messageIn(payload: string): readonly [kind: Message[0] | '', from: string, key?: string, text?: string] {
  try {
    const parts: unknown = JSON.parse(payload);
    const isMessage = Array.isArray(parts) && parts.length < 5 && parts.every((part) => typeof part === 'string');
    return isMessage && parts.length > 0 ? [parts[0] as Message[0], parts[1] ?? '', parts[2], parts[3]] : ['', ''];
  } catch {
    return ['', ''];
  }
}
