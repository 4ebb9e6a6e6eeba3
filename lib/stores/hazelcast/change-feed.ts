import { randomUUID } from 'node:crypto';
import type { Client as HazelcastClient, IMap, Predicate } from 'hazelcast-client';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';
import type { ChangeAnnouncer } from '../../core/store/change-announcer.js';
import { ForeignMessages } from '../../core/store/foreign-messages.js';
import { HINT_KEY, MessageSeals, SEAL } from '../../core/store/message-seals.js';
import type { Notify, TextCollection } from '../../core/store/driver.js';
import { isForeign } from './texts/foreign-value.js';
import { textKeys } from './client-patches/unreadable-events.js';
import { Waiters } from '../../core/store/waiters.js';

interface FeedOptions {
  /** Name of the map of records. */
  readonly mapName: string;
  /** Name of this node, so that it gets no events of its own hints; if absent, it gets them. */
  readonly writer?: string | undefined;
  readonly onUnproven?: ((count: number) => void) | undefined;
}

/** The maps that clients use to notify each other of changes. */
interface FeedMaps {
  readonly records: IMap<string, unknown>;
  /** Seal and new text of a record, under "to from key". `to` is a client's id, or {@link EVERYONE}. */
  readonly hints: IMap<string, string>;
  /** An entry under "id key" means that the client `id` waits for `key`. */
  readonly waiters: IMap<string, string>;
}

interface Attached {
  readonly client: HazelcastClient;
  readonly maps: FeedMaps;
  /** Each removes a listener. */
  readonly ends: readonly (() => unknown)[];
}

/** Lifetime of a hint in its map, in ms. Long enough for its event, and short enough that hints don't accumulate. */
const HINT_LIFETIME = 10_000;
const EVERYONE = '*';

/**
 * Listens to changes that nodes wait for, and to joining and leaving members, because changes may get lost then.
 *
 * From the map of records it only takes events of vanished records. An event per write would report every refresh of
 * any node to all nodes, and cost the members about a third of their throughput (measured with 64 flows of
 * compare-and-set). So a writer puts hints into a separate map: one for all clients after an edit, and one for each
 * waiting client after a release. The members deliver a hint only to its receiver.
 *
 * A client may have the right to write into the map of hints and not into that of records, so only hints with a seal are
 * believed. Events of the map of records come from the members.
 */
export class ChangeFeed {
  readonly #waiters: Waiters;
  #attached: Attached | undefined;
  #attaching: Promise<void> = Promise.resolve();

  readonly #seals = new MessageSeals();
  readonly #foreign: ForeignMessages;
  /** Name of the map of hints. It is the scope of their seals. */
  readonly #hintsName: string;

  constructor(
    private readonly announcer: ChangeAnnouncer,
    private readonly options: FeedOptions,
  ) {
    this.#hintsName = `${options.mapName}.hints`;
    this.#waiters = new Waiters(options.writer ?? randomUUID());
    this.#foreign = new ForeignMessages({
      refresh: () => this.#seals.refresh(),
      changed: (key) => announcer.unproven(key),
      counted: options.onUnproven,
    });
  }

  /** Reads the key of the seals, and creates it if there is none. Never rejects. */
  loadKey(records: Pick<TextCollection, 'read' | 'compareAndSet'>): Promise<void> {
    return this.#seals.load({
      read: async () => {
        const key = await records.read(HINT_KEY);
        return key === undefined || isForeign(key) ? undefined : key; // a value of another program could be guessed
      },
      create: (key) => records.compareAndSet(HINT_KEY, undefined, key),
    });
  }

  /**
   * @param records the map whose removed entries mean removed records
   * @throws the client's error if a listener could not be registered, or the client has no right to use a map
   */
  attach(client: HazelcastClient, records: FeedMaps['records']): Promise<void> {
    this.#attaching = this.#attach(client, records);
    return this.#attaching;
  }

  /**
   * Announces that this client waits for `key` (undefined: for all keys). Call the returned function to end the wait.
   */
  awaitChanges(key: string | undefined): () => void {
    return this.#waiters.add(key);
  }

  /** Sends a record's new text as hints. Does not wait for the members, because hints are not reliable anyway. */
  announce(key: string, text: string, notify: Notify): void {
    const { id } = this.#waiters;
    for (const to of this.#receivers(key, notify)) {
      const seal = this.#seals.sealOf(this.#hintsName, bodyOf(id, key, text));
      this.#put('hints', `${to} ${id} ${key}`, seal + text);
    }
  }

  async detach(): Promise<void> {
    this.#waiters.close();
    this.#foreign.close();
    await this.#attaching.catch(() => undefined); // the caller of attach reports the error
    const { ends = [] } = this.#attached ?? {};
    this.#attached = undefined;
    for (const end of ends) await end();
  }

  #receivers(key: string, notify: Notify): readonly string[] {
    if (notify === 'none') return [];
    if (notify === 'all') return [EVERYONE];
    const hearsItself = this.options.writer === undefined && this.#waiters.isOwn(key);
    return hearsItself ? [...this.#waiters.of(key), this.#waiters.id] : this.#waiters.of(key);
  }

  #put(map: 'hints' | 'waiters', key: string, value: string, lifetime = HINT_LIFETIME): void {
    const putting = this.#attached?.maps[map].set(key, value, lifetime);
    putting?.catch(() => undefined); // only a hint: nodes also look at records without it
  }

  async #attach(client: HazelcastClient, records: FeedMaps['records']): Promise<void> {
    // Once per client. The client adds its listeners to every new connection by itself, even removed ones
    // (ListenerService of 5.6.0 never forgets a listener). So a second registration would repeat every event from then
    // on.
    if (this.#attached?.client !== client) {
      const hints = await client.getMap<string, string>(this.#hintsName);
      const waiters = await client.getMap<string, string>(`${this.options.mapName}.waiters`);
      const maps = { records, hints, waiters };
      const ofMaps = await this.#listen(maps);
      const anything = () => this.announcer.anything();
      const cluster = client.getCluster();
      const membership = cluster.addMembershipListener({ memberAdded: anything, memberRemoved: anything });
      this.#attached = { client, maps, ends: [() => cluster.removeMembershipListener(membership), ...ofMaps] };
    }
    this.#waiters.connect((entry, lifetime) => this.#put('waiters', entry, '', lifetime));
  }

  async #listen({ records, hints, waiters }: FeedMaps): Promise<Attached['ends']> {
    const { id } = this.#waiters;
    const anything = () => this.announcer.anything();
    const entry = ({ key }: { key: string }) => void this.announcer.changed(key);
    const vanishing = {
      removed: entry,
      evicted: entry,
      expired: entry,
      merged: entry,
      mapCleared: anything,
      mapEvicted: anything,
    };
    const hinted = ({ key, value }: { key: string; value?: string | null }) => this.#hinted(key, value ?? '');
    const waiting = ({ key }: { key: string }) => this.#waiters.note(key);
    const [ofRecords, ofHints, ofWaiters] = await Promise.all([
      records.addEntryListenerWithPredicate(vanishing, textKeys(), undefined, false),
      hints.addEntryListenerWithPredicate({ added: hinted, updated: hinted }, this.#hintsForMe(), undefined, true),
      waiters.addEntryListenerWithPredicate({ added: waiting, updated: waiting }, notFrom(`${id} `), undefined, false),
    ]);
    return [
      () => records.removeEntryListener(ofRecords),
      () => hints.removeEntryListener(ofHints),
      () => waiters.removeEntryListener(ofWaiters),
    ];
  }

  #hinted(entry: string, value: string): void {
    const [, from = '', ...words] = entry.split(' ');
    const [key, seal, text] = [words.join(' '), value.slice(0, SEAL), value.slice(SEAL)];
    const verdict = this.#seals.judge(seal, this.#hintsName, bodyOf(from, key, text));
    if (verdict === 'proven') void this.announcer.changed(key, text);
    if (verdict === 'unproven') this.#foreign.note({ key });
  }

  /** Matches only hints with a text as value, because values are delivered with these events. */
  #hintsForMe(): Predicate {
    const { Predicates } = loadHazelcastClient();
    const { id } = this.#waiters;
    const mine = Predicates.or(beginsWith(`${id} `), beginsWith(`${EVERYONE} `));
    const others = this.options.writer === undefined ? [] : [Predicates.not(beginsWith(`${EVERYONE} ${id} `))];
    return Predicates.and(mine, Predicates.like('this', '%'), ...others);
  }
}

const bodyOf = (from: string, key: string, text: string) => `${from} ${key.length} ${key}${text}`;

const beginsWith = (prefix: string) =>
  loadHazelcastClient().Predicates.like('__key', `${prefix.replace(/[%_\\]/g, '\\$&')}%`);

function notFrom(prefix: string): Predicate {
  const { Predicates } = loadHazelcastClient();
  return Predicates.and(textKeys(), Predicates.not(beginsWith(prefix)));
}
