import { ArrayJournal } from '../../../lib/stores/memory/memory-cluster.js';
import {
  DOUBT,
  ROOT_KEY,
  SHARD_PREFIX,
  type SemaphoreDefinition,
  decodeShardRoot,
  isDoubted,
} from '../../../lib/core/decision/index.js';
import type { ClockReading, Notify, RecordChange } from '../../../lib/core/store/index.js';
import type { Chance } from '../world/chance.js';
import type { FaultyStore } from './faulty-store.js';
import { EPOCH } from '../machines/sim-process.js';
import { firstTexts } from './first-texts.js';
import { isDefinedIn, isWaitingForShard } from './stored-names.js';
import { type Reach, Split } from './split.js';
import type { Trace } from '../world/trace.js';
import type { VirtualTime } from '../world/virtual-time.js';
import type { Measures } from '../kind/length.js';
import type { FaultMix } from '../kind/fault-mix.js';

export interface ClusterEnvironment {
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly chance: Chance;
  /** Told of every write, in the order of application, with the text that it replaced. */
  readonly onWrite: (key: string, text: string, former: string | undefined) => void;
}

/** The simulated store itself: linearizable, except for the faults of the mix. */
export class StoreCluster {
  /** ms by which clocks of members were set back. */
  setBack = 0;
  /** Whether a member died with the only copy of a write. */
  hasLostCopy = false;
  #texts = new Map<string, string>();
  readonly #journals = new Map<string, ArrayJournal>();
  #split?: Split;
  readonly #clients = new Set<FaultyStore>();
  /** ms that the clock of each member is off. */
  readonly #clocks: number[];
  isDown = false;
  #isFragile = false;
  /** Whether a replica took over, and its records are not marked yet. */
  #hasFailedOver = false;
  #doomed?: { readonly prefix: string; readonly crash: (writer: string) => boolean };
  /** Keys of texts that only one member has. */
  readonly #loneCopies = new Set<string>();
  /** Also without waiters, and also the writer itself. */
  readonly #tellsAll: boolean;

  journal(name: string): ArrayJournal {
    const journal = this.#journals.get(name) ?? new ArrayJournal();
    this.#journals.set(name, journal);
    return journal;
  }

  constructor(
    public faultMix: FaultMix,
    readonly measures: Measures,
    private readonly around: ClusterEnvironment,
  ) {
    this.#tellsAll = around.chance.happens(0.1);
    const apart = around.chance.between(-faultMix.memberSpread, faultMix.memberSpread);
    this.#clocks = [0, apart].slice(
      0,
      around.chance.whole(faultMix.memberSpread > 1000 || faultMix.loneJumps > 0 ? 2 : 1, 2),
    );
  }

  /** The cluster has been in use before. */
  putFirst(definition: SemaphoreDefinition): void {
    for (const [key, text] of firstTexts(definition, this.faultMix.onDemand)) this.#texts.set(key, text);
  }

  /** See {@link isWaitingForShard}. */
  waitsForShard(name: string): boolean {
    return isWaitingForShard(this.#texts, name);
  }

  /** Whether the definition of a semaphore has been in force. */
  isDefined(name: string): boolean {
    return isDefinedIn(this.#texts, name);
  }

  /** A text as it stands. */
  text(key: string): string | undefined {
    return this.#texts.get(key);
  }

  /** Whether the shards of the names on demand have been made. */
  get isBorn(): boolean {
    const root = this.#texts.get(ROOT_KEY);
    return root !== undefined && decodeShardRoot(root).state === 'open';
  }

  join(client: FaultyStore): void {
    this.#clients.add(client);
  }

  leave(client: FaultyStore): void {
    this.#clients.delete(client);
  }

  /** Data of the members that a client reaches. */
  textsFor(client: FaultyStore): Map<string, string> {
    return this.#split?.sideOf(client).texts ?? this.#texts;
  }

  reachOf(client: FaultyStore): Reach {
    return this.#split?.reachOf(client) ?? 'all';
  }

  /** Cuts the cluster in two sides, which notice it after a while, each at its own time. */
  splitUp(): void {
    const { chance, time, trace } = this.around;
    if (this.#split) return;
    const split = new Split(this.#texts, this.faultMix.quorum, chance.fork());
    this.#split = split;
    trace.note('store', () => 'SPLITS');
    for (const side of split.sides) {
      time.after(chance.skewed(50, this.measures.horizon / 4), () => {
        if (this.#split !== split) return;
        trace.note('store', () => `the ${side.name} has noticed the split`);
        side.isAware = true;
      });
    }
  }

  /** The sides meet again: what the losing side wrote is dropped, and its clients connect anew. */
  merge(): void {
    const split = this.#split;
    if (!split) return;
    this.around.trace.note('store', () => `MERGES: what the ${split.winner.name} wrote stays`);
    const moved = [...this.#clients].filter((client) => split.sideOf(client) !== split.winner);
    this.#texts = split.winner.texts;
    this.#split = undefined;
    for (const client of moved) client.tell({});
  }

  /** How many a client sees. */
  get members(): number {
    return this.isDown ? 0 : this.#clocks.length;
  }

  /** @param turn how many members were asked before: they take turns */
  readClock(turn: number): ClockReading {
    const member = turn % this.#clocks.length;
    return { time: Math.floor(EPOCH + this.around.time.now + this.#clocks[member]!), member: `member-${member}` };
  }

  /** @param notify which others hear of it, in most stores */
  compareAndSet(writer: FaultyStore, key: string, expected: string | undefined, next: string, notify: Notify): boolean {
    this.#mark();
    const texts = this.textsFor(writer);
    if (texts.get(key) !== expected) return false;
    texts.set(key, next);
    const where = this.#split?.sideOf(writer).name ?? 'store';
    this.around.trace.note(where, () => `${writer.name} wrote ${next}`);
    this.around.onWrite(key, next, expected);
    if (notify !== 'none' || this.#tellsAll) this.#tellOthers(writer, { key, text: next }, notify);
    if (this.#isFragile) this.#breakSoon(key);
    if (this.#doomed && key.startsWith(this.#doomed.prefix)) this.#loseHost(writer, key, next, expected);
    else this.#loneCopies.delete(key);
    return true;
  }

  /**
   * The next writer of such a record dies with the member that the write reached, before another member has it.
   *
   * @param crash returns false if the writer has to go on
   */
  doomNextWriter(prefix: string, crash: (writer: string) => boolean): void {
    this.#doomed = { prefix, crash };
  }

  #loseHost({ name }: FaultyStore, key: string, text: string, former: string | undefined): void {
    const { time, chance, trace } = this.around;
    const { crash } = this.#doomed!;
    this.#doomed = undefined;
    if (!crash(name) || this.#split) return;
    this.#loneCopies.add(key);
    // Until then other clients may read it there.
    time.after(chance.skewed(1, 300), () => {
      if (!this.#loneCopies.delete(key) || this.#split || this.#texts.get(key) !== text) return;
      trace.note('store', () => `the member with the only copy of ${key} DIES`);
      this.hasLostCopy = true;
      if (former === undefined) this.#texts.delete(key);
      else this.#texts.set(key, former);
      for (const client of this.#clients) if (chance.happens(0.5)) client.tell({});
    });
  }

  #tellOthers(writer: FaultyStore, change: RecordChange & { readonly key: string }, notify: Notify): void {
    for (const client of this.#clients) {
      if (notify === 'waiting' && !this.#tellsAll && !client.awaited.has(change.key)) continue;
      const isReached = this.textsFor(client) === this.textsFor(writer);
      if (isReached && (client !== writer || this.#tellsAll)) client.tell(change);
    }
  }

  /** Loses all data soon after the next write, when it is most likely that some node has not heard of it. */
  becomeFragile(): void {
    this.#isFragile = true;
  }

  #breakSoon(key: string): void {
    const isShardOnly = this.faultMix.losesShards;
    if (isShardOnly && !key.startsWith(SHARD_PREFIX)) return;
    this.#isFragile = false;
    const breakDown = () => (isShardOnly ? this.lose((each) => each === key) : this.#loseData());
    this.around.time.after(this.around.chance.skewed(0.1, 100), breakDown);
  }

  /** Loses the records with some keys. */
  lose(isLost: (key: string) => boolean): void {
    const keys = [...new Set(this.#allTexts.flatMap((texts) => [...texts.keys()]))].filter(isLost);
    this.around.trace.note('store', () => `LOST ${keys.join()}`);
    for (const key of keys) for (const texts of this.#allTexts) texts.delete(key);
  }

  /** Every record is gone; some hear at once that something happened, as after a reconnection. */
  #loseData(): void {
    this.around.trace.note('store', () => 'LOST ALL DATA');
    for (const texts of this.#allTexts) texts.clear();
    for (const client of this.#clients) if (this.around.chance.happens(0.5)) client.tell({});
  }

  get #allTexts(): Map<string, string>[] {
    return [this.#texts, ...(this.#split?.sides.map((side) => side.texts) ?? [])];
  }

  goDown(): void {
    this.around.trace.note('store', () => 'DOWN');
    this.isDown = true;
  }

  /** The faults are over: everything can be reached again. */
  recover(): void {
    this.comeBack();
    for (const client of this.#clients) client.recover();
  }

  comeBack(): void {
    if (!this.isDown) return;
    this.around.trace.note('store', () => 'BACK');
    this.isDown = false;
    for (const client of this.#clients) client.tell({});
  }

  /** Cuts the connection of one client. @param noticedAfter ms until the client says that it is not connected */
  cutOff(name: string, noticedAfter: number): void {
    this.around.trace.note(name, () => 'is CUT OFF from the store');
    const client = this.#client(name);
    client?.cutOff();
    this.around.time.after(noticedAfter, () => client?.noticeCut());
  }

  reconnect(name: string): void {
    this.around.trace.note(name, () => 'reaches the store again');
    this.#client(name)?.reconnect();
  }

  #client(name: string): FaultyStore | undefined {
    return [...this.#clients].find((client) => client.name === name);
  }

  /** @returns what puts the data of this moment back */
  backUp(): () => void {
    const copy = new Map(this.#texts);
    return () => {
      this.around.trace.note('store', () => 'PUT BACK an old copy of all data');
      for (const [key, text] of copy) this.#texts.set(key, text);
    };
  }

  /** @returns the failover to a replica that has the data of this moment */
  replicate(): () => void {
    const copy = new Map(this.#texts);
    return () => {
      const { chance, time, trace } = this.around;
      trace.note('store', () => 'FAILS OVER to a replica that lacks the newest writes');
      // A client may read the old texts before any of them has met the new server.
      this.#texts = new Map(copy);
      this.#hasFailedOver = true;
      const meet = (client: FaultyStore) => (this.#mark(), client.tell({}));
      for (const client of this.#clients)
        if (chance.happens(0.5)) time.after(chance.skewed(0.1, 1000), () => meet(client));
    };
  }

  #mark(): void {
    if (!this.#hasFailedOver) return;
    this.#hasFailedOver = false;
    for (const [key, text] of this.#texts) if (!isDoubted(text)) this.#texts.set(key, DOUBT + text);
  }

  /** @param isOneMember the last member's clock only, not all together */
  jumpClock(by: number, isOneMember: boolean): void {
    const members = [...this.#clocks.keys()].slice(isOneMember ? -1 : 0);
    this.around.trace.note('store', () => `CLOCK of ${members.join(' and ')} JUMPS by ${by} ms`);
    for (const member of members) this.#clocks[member]! += by;
    this.setBack = Math.max(this.setBack, -by);
  }
}
