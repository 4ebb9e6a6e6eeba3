import {
  ROOT_KEY,
  SHARD_PREFIX,
  type ShardRoot,
  adoptedShard,
  blankShard,
  decodeShard,
  encodeShardRoot,
  encodeShard,
  isBlank,
  nextBirthStep,
} from '../decision/index.js';
import { forEachLimit } from '../async/for-each-limit.js';
import { Periodic } from '../async/periodic.js';
import { SerialExecutor } from '../async/serial-executor.js';
import { Slices } from '../async/slices.js';
import { Wakeup } from '../async/wakeup.js';
import type { Context } from '../context/context.js';
import { StoreUnavailableError } from '../store/index.js';
import { writeOnce } from './call.js';
import { hasData } from './cluster-data.js';
import { isUnreadable } from './known-record.js';
import { LIST_FACTOR } from '../store/store.js';
import { type FoundRoot, ShardRootReader } from './shard-root-reader.js';
import type { Shards } from './shards.js';
import { type ShardsFault, shardsFault } from './shards-fault.js';

/** Shortest and longest time between two looks of a node without history, in ms. */
const [SOONEST, LATEST] = [250, 1000];

/** The text of a root that a node waits for, and the end of the wait (monotonic ms). */
interface AwaitedRoot {
  readonly text: string;
  readonly until: number;
}

/**
 * Finds out whether the cluster is new. If so, makes all shards; then reads them all once (`decision/birth`). From then
 * on this node has history: if the root is lost, it writes the root that it knows.
 */
export class ShardBirth {
  /** Id of the open root with which this node has read all shards. */
  #rootId?: string;
  #stood?: AwaitedRoot | undefined;
  readonly #root: ShardRootReader;
  readonly #queue = new SerialExecutor();
  readonly #slices: Slices;
  readonly #periodic: Periodic;
  readonly #waiting = new Set<Wakeup>();
  #isStopped = false;
  /** Whether a call has needed the shards. */
  #isNeeded = false;
  /** Whether a look because of hints waits for its turn. */
  #isHinted = false;
  #endWatch?: () => Promise<void>;

  constructor(
    private readonly shards: Shards,
    private readonly context: Context,
    private readonly options: {
      /** ms for which an announcement must stay unchanged. A node with history can object during this time. */
      readonly patience: number;
      /** ms between two looks of a node with history. */
      readonly interval: number;
      /** Whether this process lives for a moment, as a command does: then it begins a birth only for a call that needs the shards. */
      readonly isTransient: boolean;
    },
  ) {
    this.#root = new ShardRootReader(context);
    this.#slices = Slices.of(context.nodeClock);
    this.#periodic = new Periodic(context.nodeClock, () => this.look(), {
      interval: () => this.#untilNextLook(),
      chance: context.random.number,
      onError: (error) => this.#report(error),
    });
  }

  get hasHistory(): boolean {
    return this.shards.isOwn || this.#rootId !== undefined;
  }

  /** Whether a birth goes on that has not passed its time, or the time to write its next step. Calls wait for it. */
  get isUnderWay(): boolean {
    if (!this.#stood || this.hasHistory || this.#isStopped || this.context.isClosing() || this.fault) return false;
    const { nodeClock, timing } = this.context;
    return nodeClock.monotonic() < this.#stood.until + timing.callTimeout;
  }

  /** Why nodes may have no history although the store answers. Undefined until that lasts longer than a birth. */
  get fault(): ShardsFault | undefined {
    // Allows for one replacement of a dead creator.
    const longest = 2 * (this.options.patience + LIST_FACTOR * this.context.timing.callTimeout);
    const now = this.context.nodeClock.monotonic();
    return shardsFault(this.#root, { hasHistory: this.hasHistory, now, longest });
  }

  async start(): Promise<void> {
    if (this.shards.isOwn) return;
    void this.#periodic.begin();
    this.#endWatch = await this.context.store.watch(ROOT_KEY, () => this.#hinted());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#periodic.stop();
    await this.#endWatch?.();
  }

  /** Ends all waits, because this node shuts down. Until {@link stop} it still restores a lost root. */
  stopWaiting(): void {
    this.#wake();
  }

  /** Whether this process is transient, and no node has made the shards yet. To read, it does not make them. */
  async isBefore(): Promise<boolean> {
    if (!this.options.isTransient || this.hasHistory) return false;
    await this.look();
    return !this.hasHistory && this.#stood === undefined;
  }

  /** Call it before a call that waits for the shards: a transient process begins a birth for it, if there are none. */
  async need(): Promise<void> {
    this.#isNeeded = true;
    if (this.options.isTransient && !this.hasHistory) await this.look();
  }

  /** Waits until this node has history. @returns false after `timeout` ms, or when this node shuts down */
  async wait(timeout: number): Promise<boolean> {
    if (this.hasHistory || this.context.isClosing()) return this.hasHistory;
    const bell = new Wakeup(this.context.nodeClock);
    this.#waiting.add(bell);
    try {
      await bell.wait(timeout);
    } finally {
      this.#waiting.delete(bell);
    }
    return this.hasHistory;
  }

  /** Reads the root, and does all steps that need no waiting. @throws if the store can't be asked */
  look(): Promise<void> {
    return this.#queue.run(() => this.#lookNow());
  }

  /** Hints that come before the look begins share it: others decide how many come. */
  #hinted(): void {
    if (this.#isStopped || this.#isHinted) return;
    this.#isHinted = true;
    const looking = this.#queue.run(() => {
      this.#isHinted = false;
      return this.#lookNow();
    });
    looking.catch((error: unknown) => this.#report(error));
  }

  async #lookNow(): Promise<void> {
    const hadHistory = this.#rootId !== undefined;
    while (!this.#isStopped && (await this.#step()));
    if (!hadHistory && this.#rootId !== undefined) this.#wake();
  }

  /** @returns whether a further step may follow at once */
  async #step(): Promise<boolean> {
    const found = await this.#root.read();
    const { text, root } = found;
    if (this.#rootId !== undefined) return this.#defend(this.#rootId, found);
    if (this.#root.unreadable) return false;
    const isOpen = root?.state === 'open';
    const isNew = this.#stood?.text !== text;
    const hasStood = this.#hasStood(text, root);
    if (!isOpen && this.options.isTransient && !this.#isNeeded) return false;
    // A listing is expensive. So the records are listed only twice: when an announcement is new, and when it has stood.
    if (root && !isOpen && !isNew && !hasStood) return false;
    const isStrict = this.context.timing.strictStart;
    const facts = { hasData: !isOpen && (await hasData(this.context, this.shards)), isStrict, hasStood };
    switch (nextBirthStep(root, facts)) {
      case 'join':
        await this.#join(root!);
        return false;
      case 'open':
        return this.#write(text, 'open');
      case 'announce':
        return this.#write(text, 'announced');
      case 'wait':
        return false;
      case 'create':
        return this.#create(text);
    }
  }

  /**
   * For a node with history: a root that is not open was lost. An open root with a new id comes from another such node.
   * An unreadable root stays unchanged, and this node keeps the id that it knows.
   */
  async #defend(rootId: string, { text, root }: FoundRoot): Promise<boolean> {
    if (root?.state === 'open' || this.#root.unreadable) {
      const id = root?.id ?? rootId;
      this.#rootId = id;
      // The texts of shards that were unreadable may have been repaired or removed.
      const unread = this.shards.keys.filter((shard) => this.shards.of(shard).known === undefined);
      await forEachLimit(unread, (shard) => this.#adopt(shard, id, undefined));
      return false;
    }
    await this.#write(text, 'open', rootId);
    await forEachLimit([...this.shards.all()], (shard) => shard.look().catch(ignoreUnreadable));
    return false;
  }

  /** Reads all shards of an open root. Restores missing shards, and shards of another birth, with a grace. */
  async #join({ id }: ShardRoot): Promise<void> {
    this.shards.forget();
    const texts = await this.shards.texts();
    await forEachLimit(this.shards.keys, (shard) => this.#adopt(shard, id, texts.get(SHARD_PREFIX + shard)));
    const { root } = await this.#root.read();
    // Another birth began meanwhile: the next look reads the shards again.
    if (root?.state !== 'open' || root.id !== id) return;
    this.#rootId = id;
    this.shards.markRead();
  }

  async #adopt(shard: string, id: string, text: string | undefined): Promise<void> {
    await this.#slices.turn();
    const cell = this.shards.of(shard);
    try {
      if (text !== undefined && decodeShard(shard, text).birth === id && cell.observe(text)) return;
      await cell.transact<void>((found, view, nonce) =>
        found?.birth === id
          ? { result: undefined }
          : { write: adoptedShard(id, found, view, nonce), done: () => undefined },
      );
    } catch (error) {
      // An unreadable shard stays unchanged and grants nothing. Its cell has reported it.
      ignoreUnreadable(error);
    }
  }

  /** Makes all shards empty, with a new id. Gives up if any write is not certain; a later attempt starts again. */
  async #create(text: string | undefined): Promise<boolean> {
    // Read before the root is written. Each write below expects these texts, so it fails if a later creator wrote first.
    const texts = await this.shards.texts();
    const id = this.context.random.id();
    const creating = await this.#write(text, 'creating', id);
    if (!creating) return false;
    const { clusterClock } = this.context;
    if (!clusterClock.isFresh) await clusterClock.sample();
    // Read once: while the clocks are asked again, for example after a jump of the wall clock, there is no cluster time.
    const now = clusterClock.latest();
    let isDone = true;
    await forEachLimit(this.shards.keys, async (shard) => {
      if (!isDone) return;
      // Not `isDone &&= await`: it reads `isDone` before the wait, and would overwrite another shard's failure.
      if (!(await this.#makeBlank(shard, id, now, texts.get(SHARD_PREFIX + shard)))) isDone = false;
    });
    return isDone && this.#write(this.#stood?.text, 'open', id);
  }

  async #makeBlank(shard: string, id: string, now: number, found: string | undefined): Promise<boolean> {
    if (found !== undefined && !isBlank(decodeShard(shard, found))) return false;
    const blank = blankShard(id, now, this.context.random.id());
    return this.#compareAndSet(SHARD_PREFIX + shard, found, encodeShard(blank));
  }

  #hasStood(text: string | undefined, root: ShardRoot | undefined): boolean {
    const now = this.context.nodeClock.monotonic();
    if (text === undefined) this.#stood = undefined;
    else if (this.#stood?.text !== text) this.#stood = this.#awaited(text, root?.state);
    return this.#stood !== undefined && now >= this.#stood.until;
  }

  /** A node that is still creating gets more time. Otherwise nodes would replace each other's attempts again and again. */
  #awaited(text: string, state: ShardRoot['state'] | undefined): AwaitedRoot {
    const forCreator = state === 'creating' ? LIST_FACTOR * this.context.timing.callTimeout : 0;
    return { text, until: this.context.nodeClock.monotonic() + this.options.patience + forCreator };
  }

  /**
   * Writes the root and notifies all nodes, so that a node with history can object.
   *
   * @returns whether it was surely written
   */
  async #write(text: string | undefined, state: ShardRoot['state'], id = this.context.random.id()): Promise<boolean> {
    const next = encodeShardRoot({ nonce: this.context.random.id(), id, state });
    if (!(await this.#compareAndSet(ROOT_KEY, text, next))) return false;
    this.#stood = this.#awaited(next, state);
    return true;
  }

  /** One write, without a look: a birth gives up what is not certain, and the next step decides from the root it reads. */
  #compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean> {
    const { store, reachability } = this.context;
    // Nothing else says why a birth takes long.
    const onUnclear = (error: unknown) => reachability.lost(error as Error);
    return writeOnce(() => store.records.compareAndSet(key, expected, next), onUnclear);
  }

  #untilNextLook(): number {
    if (this.#rootId !== undefined) return this.options.interval;
    const left = this.#stood ? this.#stood.until - this.context.nodeClock.monotonic() : this.options.patience;
    return Math.min(LATEST, Math.max(SOONEST, left));
  }

  #wake(): void {
    for (const bell of this.#waiting) bell.ring();
  }

  #report(error: unknown): void {
    if (this.#isStopped) return;
    if (error instanceof StoreUnavailableError) this.context.reachability.lost(error);
    else this.context.events.next({ type: 'problem', action: 'read the shards of the names on demand', error });
  }
}

/** Ignores that a record can't be read: it stays unchanged, and its cell reports it. */
function ignoreUnreadable(error: unknown): void {
  if (!isUnreadable(error)) throw error;
}
