import type { Client as HazelcastClient, IMap, Predicate } from 'hazelcast-client';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';
import { textKeys } from './client-patches/unreadable-events.js';

interface ChangeSink {
  changed(key: string): Promise<void>;
  anything(): void;
}

interface Attached {
  readonly client: HazelcastClient;
  readonly records: IMap<string, unknown>;
  readonly hints: IMap<string, string>;
  readonly listeners: readonly [records: string, hints: string];
  readonly membership: string;
}

/** How long a hint stays in its map, in ms: long enough for its event, short enough that hints don't pile up. */
const HINT_LIFETIME = 60_000;

/**
 * Listens to changes that nodes wait for, and to members that come and go, because changes may get lost with them.
 *
 * It asks for the records' own events only where a record vanishes. An event for each write would bring every refresh of
 * any node to all nodes, and cost the members about a third of their throughput (measured with 64 flows of
 * compare-and-set). So a writer announces a change by a hint in a map beside the records.
 */
export class ChangeFeed {
  #attached: Attached | undefined;
  #attaching: Promise<void> = Promise.resolve();

  /** @param writer names this node, which gets no events of its own hints */
  constructor(
    readonly sink: ChangeSink,
    readonly writer = '',
  ) {}

  /** @throws the client's error when a listener could not be registered */
  attach(client: HazelcastClient, records: IMap<string, unknown>, hints: IMap<string, string>): Promise<void> {
    this.#attaching = this.#attach(client, records, hints);
    return this.#attaching;
  }

  /** Announces to the other nodes that the record under `key` changed, without waiting: it is only a hint. */
  announce(key: string): void {
    this.#attached?.hints.set(key, this.writer, HINT_LIFETIME).catch(() => undefined);
  }

  async detach(): Promise<void> {
    await this.#attaching.catch(() => undefined); // the caller of attach has the error
    const attached = this.#attached;
    this.#attached = undefined;
    if (!attached) return;
    attached.client.getCluster().removeMembershipListener(attached.membership);
    await attached.records.removeEntryListener(attached.listeners[0]);
    await attached.hints.removeEntryListener(attached.listeners[1]);
  }

  async #attach(client: HazelcastClient, records: IMap<string, unknown>, hints: IMap<string, string>): Promise<void> {
    const anything = () => this.sink.anything();
    const entry = ({ key }: { key: string }) => void this.sink.changed(key);
    // Once per client: it puts its listeners on every new connection by itself, even those that were removed
    // (ListenerService of 5.6.0 never forgets one), so that a second one would repeat every event from then on.
    if (this.#attached?.client === client) return;
    const vanishing = {
      removed: entry,
      evicted: entry,
      expired: entry,
      merged: entry,
      mapCleared: anything,
      mapEvicted: anything,
    };
    const listeners = await Promise.all([
      records.addEntryListenerWithPredicate(vanishing, textKeys(), undefined, false),
      hints.addEntryListenerWithPredicate({ added: entry, updated: entry }, this.#others(), undefined, false),
    ]);
    const membership = client.getCluster().addMembershipListener({ memberAdded: anything, memberRemoved: anything });
    this.#attached = { client, records, hints, listeners, membership };
  }

  #others(): Predicate {
    if (this.writer === '') return textKeys();
    const { Predicates } = loadHazelcastClient();
    return Predicates.and(textKeys(), Predicates.notEqual('this', this.writer));
  }
}
