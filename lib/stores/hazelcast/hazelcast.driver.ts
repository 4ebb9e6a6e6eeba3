import type { StoreHealth } from '../../core/store/store-health.js';
import type {
  ClockReading,
  Driver,
  HintQueue,
  Journal,
  OpenOptions,
  OrderedCollection,
  RecordChange,
  RecordCollection,
  TextCollection,
} from '../../core/store/driver.js';
import { atMost } from '../../core/store/at-most.js';
import { LastProblem } from '../../core/store/call-health.js';
import { HintsAfterWrites } from '../../core/store/hints-after-writes.js';
import { PrefixWatches } from '../../core/store/prefix-watches.js';
import { ChangeAnnouncer } from '../../core/store/change-announcer.js';
import { Calls, type PartOf, oncePerSession } from './calls.js';
import { ChangeFeed } from './change-feed.js';
import { Connection, LONGEST_CLOSE } from './connection.js';
import { readFailure } from './failures.js';
import { GivenClient, OwnClient } from './client-source.js';
import type { ResolvedOptions } from './hazelcast.options.js';
import { HazelcastQueue } from './hint-queues.js';
import { RingJournal } from './ring-journal.js';
import { dataMembers, openSession, type Session } from './session.js';
import { CpMissingError } from './texts/cp-records.js';
import { MapTexts } from './texts/map-texts.js';
import { SortedTexts } from './texts/sorted-texts.js';

const CALL_TIMEOUT = 2000;
/** The longest time in ms for which a start waits for the first attempt to connect. */
const LONGEST_VERIFICATION = 10_000;

/**
 * Texts as strings in maps, hints in queues, journals in ringbuffers, cluster time from a FlakeIdGenerator.
 *
 * | collection | is                                                                             |
 * | ---------- | ------------------------------------------------------------------------------ |
 * | records    | the map `<mapName>`; with `cp: true`, references with their keys in a map      |
 * | tasks      | the map `<mapName>.tasks`, with a sorted index                                 |
 * | groups     | the map `<mapName>.groups`                                                     |
 * | queues     | the queues `<mapName>.ready.<name>`                                            |
 * | journals   | the ringbuffers `<mapName>.<name>`                                             |
 *
 * All but the records are created on their first use, so an application without tasks has no map or queue of tasks.
 *
 * The members' configuration decides how many backups there are: by default one, and two for the maps of the shipped
 * hazelcast.yaml. With `cp: true` or `acquisition: 'pessimistic'`, tasks and groups are kept in these maps without locks
 * all the same.
 */
export class HazelcastDriver implements Driver {
  readonly records: RecordCollection;
  readonly tasks: OrderedCollection;
  readonly groups: TextCollection;
  readonly #watches = new PrefixWatches();
  readonly #announcer = new ChangeAnnouncer(this.#watches, (key) => this.records.read(key));
  readonly #feed: ChangeFeed;
  readonly #connection: Connection<Session>;
  /**
   * Calls for records, and those for all else. Each keeps its own last problem, because members may refuse records, as without
   * the quorum of their split-brain protection, and answer for queues.
   */
  readonly #records: Calls;
  readonly #others: Calls;
  readonly #hints: HintsAfterWrites;
  #closing: Promise<void> | undefined;
  /**
   * Problem of the last clock reading, if it failed. Separate from that of calls, because members may give their time but
   * refuse records.
   */
  readonly #clockProblem = new LastProblem();
  /** The node's clock asks for the health all the time. */
  readonly #usualMembers = new UsualMembers();

  constructor(
    readonly options: ResolvedOptions,
    { writer, onUnproven, onHintLost, callTimeout = CALL_TIMEOUT }: OpenOptions = {},
  ) {
    const { mapName } = options;
    this.#feed = new ChangeFeed(this.#announcer, { mapName, writer, onUnproven });
    this.#connection = new Connection(
      options.client ? new GivenClient(options.client) : new OwnClient(options),
      ({ client }, ended) => openSession(client, options, this.#feed, { callTimeout, ended }),
      () => this.#announcer.anything(),
    );
    this.#records = new Calls(this.#connection, options, callTimeout);
    this.#others = new Calls(this.#connection, options, callTimeout);
    this.#hints = new HintsAfterWrites((name) => this.queue(name), callTimeout, onHintLost);
    this.records = this.#recordsOf(({ records }) => records);
    this.tasks = this.#tasksOf(oncePerSession(({ client }) => SortedTexts.open(client, `${mapName}.tasks`)));
    this.groups = textsOf(
      this.#others,
      oncePerSession(async ({ client }) => new MapTexts(await client.getMap(`${mapName}.groups`))),
    );
  }

  /** Opened with the session. Their writes are announced. */
  #recordsOf(opened: PartOf<RecordCollection>): RecordCollection {
    const calls = this.#records;
    return {
      ...textsOf(calls, opened),
      page: (prefix, after) => calls.reading(opened, (records) => records.page(prefix, after)),
      compareAndSet: (key, expected, next, { notify = 'all' } = {}) =>
        calls.writing(opened, (records) => records.compareAndSet(key, expected, next), {
          followsRead: true,
          onAnswer: (isWritten) => void (isWritten && this.#feed.announce(key, next, notify)),
        }),
    };
  }

  /** No operation of a member changes a map together with a queue, which may be another member's: a hint follows its write. */
  #tasksOf(opened: PartOf<OrderedCollection>): OrderedCollection {
    const calls = this.#others;
    const texts = textsOf(calls, opened);
    return {
      ...texts,
      range: (from, to, limit) => calls.reading(opened, (tasks) => tasks.range(from, to, limit)),
      compareAndSet: (key, expected, next, { hint } = {}) => {
        const written = texts.compareAndSet(key, expected, next);
        return hint ? this.#hints.follow(written, hint) : written;
      },
    };
  }

  queue(name: string): HintQueue {
    return new HazelcastQueue(`${this.options.mapName}.ready.${name}`, this.#others);
  }

  journal(name: string): Journal {
    return new RingJournal(`${this.options.mapName}.${name}`, this.#others);
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    if (this.#connection.isClosed) throw this.#records.unavailable();
    return this.#watches.add(prefix, onChange);
  }

  awaitChanges(key?: string): () => void {
    return this.#feed.awaitChanges(key);
  }

  /** Never waits for a connection: the wait would count as the age of the reading. */
  async now(): Promise<ClockReading> {
    const { clock } = this.#records.connected();
    try {
      return this.#clockProblem.answered(await clock.read());
    } catch (error) {
      throw this.#clockProblem.failed(readFailure(error));
    }
  }

  async verify(): Promise<void> {
    if (!this.options.cp) return; // every cluster can serve records in a map
    await this.#connection.firstAttempt.wait(LONGEST_VERIFICATION);
    if (this.#connection.failure instanceof CpMissingError) throw this.#connection.failure;
  }

  health(): StoreHealth {
    const { isClosed, session } = this.#connection;
    const problem = isClosed
      ? 'the store is closed'
      : (this.#connection.problem ??
        this.#records.problem.text ??
        this.#clockProblem.text ??
        this.#others.problem.text);
    const members = session ? dataMembers(session) : 0;
    const usual = this.#usualMembers.see(members);
    const expected = this.options.expectedMembers ?? usual;
    return {
      connected: session !== undefined,
      members,
      ...(expected > 0 && { expected }),
      quorum: this.options.quorum,
      ...(problem !== undefined && { problem }),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#watches.clear();
    await this.#hints.close(LONGEST_CLOSE);
    await this.#connection.close();
    // A hanging member does not answer the removal of listeners, so this has a time limit too.
    await atMost(LONGEST_CLOSE, this.#feed.detach());
  }
}

/** Texts that outlive a connection: each call uses those of the current session. */
function textsOf(calls: Calls, opened: PartOf<TextCollection>): TextCollection {
  return {
    read: (key) => calls.reading(opened, (texts) => texts.read(key)),
    readMany: (keys) => calls.reading(opened, (texts) => texts.readMany(keys)),
    compareAndSet: (key, expected, next) => calls.writing(opened, (texts) => texts.compareAndSet(key, expected, next)),
  };
}

/** ms after which a smaller cluster counts as meant: longer than the restart of a member, and than a night's alarm. */
const MEANT = 60 * 60 * 1000;

/** How many members the cluster usually has: the most that were seen in the last hour. */
export class UsualMembers {
  #most = 0;
  /** Since when fewer are seen, in `now`'s ms, and the most of them. */
  #fewer: { readonly since: number; most: number } | undefined;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Notes how many members are seen now. @returns how many there usually are */
  see(members: number): number {
    // While nothing is seen, the client itself is cut off, which says nothing about the cluster.
    if (members === 0) return this.#most;
    if (members >= this.#most) {
      this.#most = members;
      this.#fewer = undefined;
      return members;
    }
    const fewer = (this.#fewer ??= { since: this.now(), most: 0 });
    fewer.most = Math.max(fewer.most, members);
    if (this.now() - fewer.since < MEANT) return this.#most;
    this.#most = fewer.most;
    this.#fewer = undefined;
    return this.see(members);
  }
}
