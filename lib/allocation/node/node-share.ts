import { inSlices } from '../../async/slices.js';
import { SerialQueue } from '../../async/serial-queue.js';
import type { GroupEntry, Membership } from '../../activity/index.js';
import type { Context } from '../../context/context.js';
import type { MapStore } from '../map/map-store.js';
import { type AllocationRoot, isRootBehind, pageKeysOf } from '../map/root.js';
import {
  type Belief,
  type Ending,
  acknowledgementOf,
  applyRoot,
  countsFor,
  endRevocation,
  noBelief,
} from './belief.js';

/** The resources of one group that this node owns: its {@link Belief}, brought up to date by the roots that it reads. */
export class NodeShare {
  #belief: Belief = noBelief('');
  #missing: string | undefined;
  #newest: AllocationRoot | undefined;
  #bornSeen = { born: '', at: 0 };
  #isGivingUp = false;
  readonly #queue = new SerialQueue();

  /** @param onChange called when the node owns other resources, or has to give some back */
  constructor(
    private readonly map: MapStore,
    private readonly membership: Pick<Membership, 'incarnation'>,
    private readonly context: Context,
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

  /** Resources that are being given back. */
  get ending(): readonly Ending[] {
    return this.isHeld ? this.#belief.ending : [];
  }

  /** Whether something is on the way, so that the next root should be read soon. */
  get isMoving(): boolean {
    const { grace, limbo, lost } = this.#newest ?? { grace: true, limbo: [], lost: [] };
    return grace || limbo.length + lost.length + this.ending.length > 0 || this.#missing !== undefined;
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
   * Applies a root that was read.
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
    await this.map.readOwned(root.members.get(inc) ?? []);
    return this.#apply(root, inc);
  }

  /** Pages are applied in pieces. Meanwhile a callback may end, or the lease may lapse. */
  async #apply(root: AllocationRoot, inc: string): Promise<boolean> {
    for (;;) {
      const before = this.#belief;
      if (before.inc !== inc) return false;
      const { belief, added, renewed, revoked, missing } = await inSlices(
        applyRoot(before, root, this.map.owned),
        this.context.nodeClock,
      );
      if (this.#belief !== before) continue;
      if (this.membership.incarnation !== inc) return false;
      const published = JSON.stringify(this.entryFor(inc));
      this.#belief = belief;
      this.#missing = missing[0];
      this.map.keepOnly(pageKeysOf(root));
      if (added.length + renewed.length > 0 || revoked) this.onChange();
      return published !== JSON.stringify(this.entryFor(inc));
    }
  }
}

const NOTHING: ReadonlyMap<string, number> = new Map();
