import { isDeepStrictEqual } from 'node:util';
import { eachInPieces, inSlices, type Pieces } from '../../core/async/slices.js';
import { SerialExecutor } from '../../core/async/serial-executor.js';
import type { GroupEntry, Membership } from '../../core/members/index.js';
import type { Context } from '../../core/context/context.js';
import type { Allocated } from '../group-options.js';
import type { MapStore } from '../map-store.js';
import { type AllocationRoot, isRootBehind, pageKeysOf } from '../map/root.js';
import {
  type Applied,
  type Belief,
  type Ending,
  acknowledgementOf,
  applyRoot,
  countsFor,
  endRevocation,
  noBelief,
} from './belief.js';

/** Resource -> token, and the same as a list. */
interface Listed {
  readonly of: ReadonlyMap<string, number>;
  readonly list: readonly Allocated[];
}

const NOTHING: ReadonlyMap<string, number> = new Map();
const NONE: readonly Allocated[] = Object.freeze([]);

/** The resources of one group that this node owns: its {@link Belief}, brought up to date by the roots that it reads. */
export class NodeShare {
  #belief: Belief = noBelief('');
  #listed: Listed = { of: NOTHING, list: NONE };
  #missing: string | undefined;
  #newest: AllocationRoot | undefined;
  #bornSeen = { born: '', at: 0 };
  #isGivingUp = false;
  /** Whether the root that was last read may still get lost. */
  #isUnconfirmed = false;
  readonly #queue = new SerialExecutor();

  /** @param onChange called when the node owns other resources, or has to give some back */
  constructor(
    private readonly map: MapStore,
    private readonly membership: Pick<Membership, 'incarnation'>,
    private readonly context: Context,
    private readonly resourceOf: (id: string) => unknown,
    private readonly onChange: () => void,
  ) {}

  /** The newest root that this node has seen. */
  get newest(): AllocationRoot | undefined {
    return this.#newest;
  }

  /** Whether the belief counts now: the membership lease that it belongs to is held, by the node's own clocks. */
  get isHeld(): boolean {
    return this.#belief.inc === this.membership.incarnation;
  }

  /** Resource -> token. Without those that are being given back. The same object until something changes. */
  get owned(): ReadonlyMap<string, number> {
    return this.isHeld && !this.#isGivingUp ? this.#belief.owned : NOTHING;
  }

  /**
   * {@link owned} as the application gets it. Made in pieces before the belief changes, because to list 100,000 resources
   * would block the event loop for tens of ms.
   */
  get list(): readonly Allocated[] {
    return this.owned === this.#listed.of ? this.#listed.list : NONE;
  }

  /** Resources that are being given back. */
  get ending(): readonly Ending[] {
    return this.isHeld ? this.#belief.ending : [];
  }

  /** Whether something is on the way, so that the next root should be read soon. */
  get isMoving(): boolean {
    const { grace, limbo, lost } = this.#newest ?? { grace: true, limbo: [], lost: [] };
    const isComplete = this.#missing === undefined && !this.#isUnconfirmed;
    return grace || limbo.length + lost.length + this.ending.length > 0 || !isComplete;
  }

  /** Monotonic ms at which this node first read a root of this lineage. */
  bornSeenAt(born: string): number {
    if (this.#bornSeen.born !== born) this.#bornSeen = { born, at: this.context.nodeClock.monotonic() };
    return this.#bornSeen.at;
  }

  /** This node's part of its entry, for the lease that is being written. */
  entryFor(incarnation: string): Pick<GroupEntry, 'acked' | 'top' | 'missing'> {
    const { inc, top } = this.#belief;
    const acked = inc === incarnation ? acknowledgementOf(this.#belief) : undefined;
    const missing = inc === incarnation ? this.#missing : undefined;
    return { top, ...(acked && { acked }), ...(missing !== undefined && { missing }) };
  }

  /**
   * Applies a root that was read, and that can't get lost any more. Otherwise, a node could begin work by a root that the
   * next leader does not know of.
   *
   * @returns whether this node has something new to publish
   * @throws StoreUnavailableError, NewerRecordError
   */
  take(root: AllocationRoot): Promise<boolean> {
    return this.#queue.run(() => this.#take(root));
  }

  /** Id of the lease that {@link owned} and {@link ending} belong to. */
  get incarnation(): string {
    return this.#belief.inc;
  }

  /** Ends the belief in resources that were given back. Does nothing if that lease has lapsed. */
  end(incarnation: string, endings: readonly Ending[]): void {
    if (this.#belief.inc !== incarnation) return;
    for (const ending of endings) this.#belief = endRevocation(this.#belief, ending);
  }

  /** Ends the belief if the membership lease has lapsed. @returns whether it did */
  lapse(): boolean {
    const { inc, top, owned, ending } = this.#belief;
    if (inc === '' || this.isHeld) return false;
    this.#belief = noBelief('', top);
    this.#missing = undefined;
    return owned.size + ending.length > 0;
  }

  /** From now on all that this node owns is being given back, until {@link close}. */
  giveUp(): void {
    this.#isGivingUp = true;
  }

  /** Ends all belief. */
  close(): void {
    this.#belief = noBelief('', this.#belief.top);
  }

  /**
   * Takes over the resources of the application's last reading into the list: those that it had not returned when they were
   * listed, and those that are other objects now.
   *
   * @returns whether their content is another one now. Most applications make the same objects anew with each reading
   */
  nameStrangers(): Promise<boolean> {
    // After a root that is being applied, whose list may lack the names, too.
    return this.#queue.run(async () => {
      const { listed, isOther } = await inSlices(this.#named(), this.context.nodeClock);
      this.#listed = listed;
      return isOther;
    });
  }

  /** Notes a root that other nodes may have read. If the store does not have it later, it was lost. */
  note(root: AllocationRoot): void {
    if (!this.#newest || !isRootBehind(root, this.#newest)) this.#newest = root;
  }

  async #take(root: AllocationRoot): Promise<boolean> {
    this.bornSeenAt(root.born);
    this.note(root);
    const inc = this.membership.incarnation;
    if (inc === undefined) return false;
    if (this.#belief.inc !== inc) {
      const lapsed = this.lapse();
      this.#belief = noBelief(inc, this.#belief.top);
      if (lapsed) this.onChange();
    }
    if (!countsFor(this.#belief, root)) return false;
    // Until there is an answer, so that an error does not end the looks.
    this.#isUnconfirmed = true;
    this.#isUnconfirmed = !(await this.map.confirm(root));
    if (this.#isUnconfirmed) return false;
    // A root of this lineage that was read before, and is not older, got lost.
    if (this.#newest?.born === root.born && this.#newest.seq <= root.seq) this.#newest = root;
    await this.map.readOwned(root.members.get(inc) ?? []);
    return this.#apply(root, inc);
  }

  /** Pages are applied in pieces. Meanwhile a callback may end, or the lease may lapse. */
  async #apply(root: AllocationRoot, inc: string): Promise<boolean> {
    for (;;) {
      const before = this.#belief;
      if (before.inc !== inc) return false;
      const applying = inSlices(this.#applied(before, root), this.context.nodeClock);
      const { belief, listed, added, renewed, revoked, missing } = await applying;
      if (this.#belief !== before) continue;
      if (this.membership.incarnation !== inc) return false;
      const published = JSON.stringify(this.entryFor(inc));
      this.#belief = belief;
      this.#listed = listed;
      this.#missing = missing[0];
      this.map.keepOnly(pageKeysOf(root));
      if (added.length + renewed.length > 0 || revoked) this.onChange();
      return published !== JSON.stringify(this.entryFor(inc));
    }
  }

  *#applied(before: Belief, root: AllocationRoot): Pieces<Applied & { readonly listed: Listed }> {
    const applied = yield* applyRoot(before, root, this.map.owned);
    const { owned } = applied.belief;
    return { ...applied, listed: owned === this.#listed.of ? this.#listed : yield* this.#list(owned) };
  }

  *#named(): Pieces<{ readonly listed: Listed; readonly isOther: boolean }> {
    const { of, list } = this.#listed;
    const named: Allocated[] = [];
    let [isReplaced, isOther] = [false, false];
    yield* eachInPieces(list, (each) => {
      const resource = this.resourceOf(each.id) ?? each.resource;
      const isSame = resource === each.resource;
      isReplaced ||= !isSame;
      isOther ||= !isSame && !isDeepStrictEqual(resource, each.resource);
      named.push(isSame ? each : { ...each, resource });
    });
    return { listed: isReplaced ? { of, list: Object.freeze(named) } : this.#listed, isOther };
  }

  *#list(of: ReadonlyMap<string, number>): Pieces<Listed> {
    const list: Allocated[] = [];
    yield* eachInPieces(of, ([id, token]) => void list.push({ id, token, resource: this.resourceOf(id) }));
    return { of, list: Object.freeze(list) };
  }
}
