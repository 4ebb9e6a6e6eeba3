import { inSlices, type Pieces } from '../../core/async/slices.js';
import type { ShrunkSet } from '../../core/members/index.js';
import type { Context } from '../../core/context/context.js';
import { messageOf } from '../../core/decision/index.js';
import type { Orders } from '../orders/orders.js';
import type { KnownPages } from '../round/owner-map.js';
import { resourcesIn } from '../map/page.js';
import {
  type MasterSetState,
  type NodeSet,
  differingSets,
  failReading,
  settleDoubt,
  takeReading,
  votesOn,
  withOwnerMap,
} from './master-set-state.js';
import type { Reading, ResourceReader } from './resource-reader.js';

/** The resources that count: those of the leader, over several readings. See {@link takeReading}. */
export class LeaderResources {
  #state: MasterSetState = {};
  #taken: Reading | undefined;
  /** Whether a reading of this term counted. */
  #isRead = false;
  /** Monotonic ms at which the present ones were taken. */
  #since = 0;
  /** Monotonic ms at which the first reading in doubt was taken. */
  #doubtedSince = 0;
  /** The request of the confirmation that a reading has used, or that an earlier term left. Undefined before the orders are known. */
  #usedConfirmation: number | undefined;

  constructor(
    private readonly context: Context,
    private readonly reader: ResourceReader,
    private readonly orders: Pick<Orders, 'areAsked' | 'confirmation'>,
  ) {}

  /** In ascending order; undefined before the first reading. */
  get ids(): readonly string[] | undefined {
    return this.#state.current?.ids;
  }

  /** Why the last reading does not count, in a sentence. */
  get problem(): string | undefined {
    return this.#state.problem;
  }

  /** The last reading, if it counts only when other nodes read the same, or an operator confirms it. */
  get doubts(): ShrunkSet | undefined {
    const { doubt } = this.#state;
    return doubt && { known: doubt.known, left: doubt.kept };
  }

  /** Digest of the last reading that could be read. */
  get digest(): string | undefined {
    return this.reader.set?.digest;
  }

  /** Whether {@link update} has something to do: to take a reading, or to ask for one. */
  get isStale(): boolean {
    const { reader } = this;
    return reader.isAsked || (reader.last !== undefined && reader.last !== this.#taken);
  }

  /** Call this when a term begins: a node that did not lead has not compared its readings with the owner map. */
  reset(): void {
    this.#state = {};
    this.#taken = undefined;
    this.#isRead = false;
    this.#usedConfirmation = undefined;
  }

  /** Takes over a reading that is as the one before: it needs no look at the owner map. Most readings are. */
  adopt(): void {
    const { last } = this.reader;
    if (!last || last === this.#taken || !this.#isRead || this.#state.doubt) return;
    const { current } = this.#state;
    const taken = this.#taken;
    if ('error' in last) {
      const isSame = taken !== undefined && 'error' in taken && messageOf(taken.error) === messageOf(last.error);
      if (isSame) this.#taken = last;
    } else if (this.#state.problem === undefined && last.set.digest === current?.digest) {
      [this.#taken, this.#state] = [last, { current: last.set }];
    }
  }

  /** Takes over the last reading. Begins another one if a node has asked for it, and does not wait for its end. */
  async update(pages: KnownPages): Promise<void> {
    const { reader, context, orders } = this;
    // An operator confirmed what an earlier term read.
    if (orders.areAsked) this.#usedConfirmation ??= orders.confirmation?.asked ?? 0;
    if (reader.isAsked) void reader.answer();
    const reading = reader.last;
    if (!reading || (reading === this.#taken && (this.#isRead || this.#isPlain(reading)))) return;
    const isNew = reading !== this.#taken;
    this.#taken = reading;
    const { current, doubt } = this.#state;
    this.#state = await inSlices(this.#stateAfter(reading, isNew, pages), context.nodeClock);
    const now = context.nodeClock.monotonic();
    if (this.#state.current?.digest !== current?.digest) this.#since = now;
    if (!doubt) this.#doubtedSince = now;
  }

  /** Whether the pages of the owner map, which may be lost and come back, change nothing. */
  #isPlain(reading: Reading): boolean {
    return !('error' in reading) && !this.#state.doubt;
  }

  *#stateAfter(reading: Reading, isNew: boolean, pages: KnownPages): Pieces<MasterSetState> {
    if ('error' in reading) return yield* this.#stateAfterError(reading.error, pages);
    const { current } = this.#state;
    // The set grows with each look until a reading counts.
    if (!isNew) return { ...this.#state, current: yield* withOwnerMap(current!, mappedIn(pages)) };
    const enough = this.#useConfirmation(reading.asked);
    // Only a node that has not read the set before needs them.
    const state = yield* takeReading(this.#state, reading.set, current ? [] : [...mappedIn(pages)], enough);
    this.#isRead ||= !state.doubt;
    return state;
  }

  /**
   * Uses a confirmation for the first reading that began after it, also if that one is smaller: it is not for a later set.
   *
   * @param asked number of the last request that was known when the reading began
   * @returns the known resources that are enough for the reading; undefined if no operator has confirmed it
   */
  #useConfirmation(asked: number): number | undefined {
    const { confirmation } = this.orders;
    const used = this.#usedConfirmation;
    if (!confirmation || used === undefined || confirmation.asked <= used || asked < confirmation.asked)
      return undefined;
    this.#usedConfirmation = confirmation.asked;
    return confirmation.left;
  }

  /** Pages of the owner map may be lost and come back, so the set grows with each look until it can be read. */
  *#stateAfterError(error: unknown, pages: KnownPages): Pieces<MasterSetState> {
    const set = this.#state.current ?? this.reader.set;
    if (!set || this.#isRead) return failReading(this.#state, error);
    return failReading({ current: yield* withOwnerMap(set, mappedIn(pages)) }, error);
  }

  /** Lets a reading in doubt count if more than half of the nodes read the same. */
  confirmByVotes(others: readonly NodeSet[]): void {
    const { doubt } = this.#state;
    this.#state = settleDoubt(this.#state, others);
    this.#isRead ||= doubt !== undefined && !this.#state.doubt;
  }

  /** Votes of the nodes on a reading in doubt, as text: a new text is a reason to decide again. Undefined without a doubt. */
  opinionOf(others: readonly NodeSet[]): string | undefined {
    const { doubt } = this.#state;
    return doubt && JSON.stringify(votesOn(doubt, others));
  }

  /**
   * Whether more than half of the nodes read one other set than this node, whose reading is in doubt.
   *
   * @param patience ms in which every node has read and published the present ones
   */
  isOutvoted(others: readonly NodeSet[], patience: number): boolean {
    const { doubt } = this.#state;
    if (!doubt?.next || this.context.nodeClock.monotonic() - this.#doubtedSince <= patience) return false;
    const { against, all } = votesOn(doubt, others);
    return against * 2 > all;
  }

  /**
   * Warnings about nodes that read other resources.
   *
   * @param patience ms in which every node has read and published the present ones
   */
  warnings(nodes: readonly NodeSet[], patience: number): string[] {
    const { current, doubt } = this.#state;
    const age = this.context.nodeClock.monotonic() - this.#since;
    return current && !doubt && age > patience ? differingSets(current, nodes) : [];
  }
}

/** Resources that a node owns, or may still own. */
function* mappedIn({ owned, limbo }: KnownPages): Generator<string> {
  for (const [id] of resourcesIn(owned.values())) yield id;
  for (const [, , ids] of [...limbo.values()].flatMap((page) => page.limbo)) yield* ids;
}
