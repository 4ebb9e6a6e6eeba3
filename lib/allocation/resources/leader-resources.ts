import { type Pieces, inSlices } from '../../async/slices.js';
import type { Context } from '../../context/context.js';
import { eachInPieces } from '../each-in-pieces.js';
import { resourcesIn } from '../map/page.js';
import type { KnownPages } from '../round/owner-map.js';
import type { MasterSet } from './master-set.js';
import {
  type MasterSetState,
  type NodeSet,
  differingSets,
  failReading,
  takeReading,
  withOwnerMap,
} from './master-set-state.js';
import type { Reading, ResourceReader } from './resource-reader.js';

interface LeaderResourcesParts {
  readonly context: Context;
  readonly reader: ResourceReader;
}

/** The resources that count: those of the leader, over several readings. See {@link takeReading}. */
export class LeaderResources {
  #state: MasterSetState = {};
  #taken: Reading | undefined;
  /** Whether a reading of this term counted. */
  #isRead = false;
  /** Monotonic ms at which the present ones were taken. */
  #since = 0;

  constructor(private readonly parts: LeaderResourcesParts) {}

  /** In ascending order; undefined before the first valid reading. */
  get ids(): readonly string[] | undefined {
    return this.#state.current?.ids;
  }

  /** Why the last reading does not count, in a sentence. */
  get problem(): string | undefined {
    return this.#state.problem;
  }

  /** Whether {@link update} has something to do: to take a reading, or to ask for one. */
  get isStale(): boolean {
    const { reader } = this.parts;
    return reader.isAsked || (reader.last !== undefined && reader.last !== this.#taken);
  }

  /** Call this when a term begins: a node that did not lead has not compared its readings with the owner map. */
  reset(): void {
    this.#state = {};
    this.#taken = undefined;
    this.#isRead = false;
  }

  /** Takes over the last reading. Begins another one if a node has asked for it, and does not wait for its end. */
  async update(pages: KnownPages): Promise<void> {
    const { reader, context } = this.parts;
    if (reader.isAsked) void reader.answer();
    const reading = reader.last;
    if (!reading || (reading === this.#taken && (this.#isRead || !('error' in reading)))) return;
    this.#taken = reading;
    const former = this.#state.current?.digest;
    const next =
      'error' in reading ? this.#stateAfterError(reading.error, pages) : this.#stateAfter(reading.set, pages);
    this.#state = await inSlices(next, context.nodeClock);
    if (this.#state.current?.digest !== former) this.#since = context.nodeClock.monotonic();
  }

  *#stateAfter(set: MasterSet, pages: KnownPages): Pieces<MasterSetState> {
    const owned: string[] = [];
    // Only a node that has not read the set before needs them.
    if (!this.#state.current) yield* eachInPieces(resourcesIn(pages.owned.values()), ([id]) => void owned.push(id));
    const state = yield* takeReading(this.#state, set, owned);
    this.#isRead ||= state.current === set;
    return state;
  }

  /** Pages of the owner map may be lost and come back, so the set grows with each look until it can be read. */
  *#stateAfterError(error: unknown, pages: KnownPages): Pieces<MasterSetState> {
    const set = this.#state.current ?? this.parts.reader.set;
    if (!set || this.#isRead) return failReading(this.#state, error);
    return failReading({ current: yield* withOwnerMap(set, mappedIn(pages)) }, error);
  }

  /**
   * Warnings about nodes that read other resources.
   *
   * @param patience ms in which every node has read and published the present ones
   */
  warnings(nodes: readonly NodeSet[], patience: number): string[] {
    const { current } = this.#state;
    const age = this.parts.context.nodeClock.monotonic() - this.#since;
    return current && age > patience ? differingSets(current, nodes) : [];
  }
}

/** Resources that a node owns, or may still own. */
function* mappedIn({ owned, limbo }: KnownPages): Generator<string> {
  for (const [id] of resourcesIn(owned.values())) yield id;
  for (const [, , ids] of [...limbo.values()].flatMap((page) => page.limbo)) yield* ids;
}
