import { firstIncarnation, incarnationId, nextIncarnation, withoutFormer } from './incarnation.js';
import {
  type Belief,
  acknowledgementOf,
  applyRoot,
  countsFor,
  endRevocation,
  noBelief,
  tokenOf,
} from '../../../lib/allocation/node/belief.js';
import { decodeAllocationRoot, decodeOwnedPage } from '../../../lib/allocation/map/map.codec.js';
import type { OwnedPage } from '../../../lib/allocation/map/page.js';
import { type AllocationRoot, isRootBehind } from '../../../lib/allocation/map/root.js';
import { finish } from '../divisions.js';
import type { Checker } from './checker.js';
import { SimLeader } from './sim-leader.js';
import {
  type RegistryText,
  REGISTRY_PAGES,
  ROOT_KEY,
  type Work,
  pageAt,
  pageSlot,
  registryKey,
} from './sim-records.js';
import { BEATS, LEASE, type Machine, TOLERANCE, type World } from './world.js';

/** A process with the production code's decisions, and the smallest I/O around them. */
export class SimNode implements Machine {
  isStopped = false;
  frozenUntil = 0;
  cut: Machine['cut'] = 'none';
  isLeaving = false;
  belief: Belief;
  /** The newest root that this node has seen. */
  copy: AllocationRoot | undefined;
  readonly leader: SimLeader;
  readonly pages = new Map<string, OwnedPage>();
  readonly instance: string;
  /** ms of its membership lease. */
  readonly lease: number;
  readonly #drift: number;
  readonly #registryPage: number;
  #incarnation;
  /** Monotonic time; the lease is held until then. */
  #leaseEnd = -Infinity;
  #hasJoined = false;
  #beat = 0;
  #writtenBeat = 0;
  #written = '';
  #missing: string | undefined;
  #wake: (() => void) | undefined;

  constructor(
    readonly world: World,
    readonly name: string,
    readonly weight: number,
    readonly work: Work,
    readonly checker: Checker,
  ) {
    this.instance = world.id();
    this.lease = world.nextLease();
    this.#incarnation = firstIncarnation(this.instance);
    this.belief = noBelief(incarnationId(this.#incarnation));
    this.#drift = world.chance.between(0.965, 1.035);
    this.#registryPage = world.chance.whole(0, REGISTRY_PAGES - 1);
    this.leader = new SimLeader(this);
    world.machines.push(this);
    void this.#follow();
    void this.leader.run();
  }

  get inc(): string {
    return this.belief.inc;
  }

  mono(): number {
    return this.world.time.now * this.#drift;
  }

  get isHeld(): boolean {
    return this.#leaseEnd > this.mono();
  }

  tokenOf(resource: string): number | undefined {
    return !this.isStopped && this.isHeld ? tokenOf(this.belief, resource) : undefined;
  }

  wake(): void {
    this.#wake?.();
    this.leader.wake();
  }

  pause(ms: number, wakeable: (wake: () => void) => void = () => undefined): Promise<void> {
    return new Promise((resolve) => {
      wakeable(resolve);
      this.world.on(this, ms, resolve);
    });
  }

  async #follow(): Promise<void> {
    let lastWrite = -Infinity;
    for (;;) {
      this.#lapse();
      const root = await this.world.read(this, ROOT_KEY);
      this.#lapse();
      if (root?.value !== undefined) await this.#apply(decodeAllocationRoot('sim', root.value));
      this.#lapse();
      if (this.#isGone()) return void (await this.#leave());
      const due = lastWrite + (this.lease / BEATS) * 0.9 - this.mono();
      let isDone = root !== undefined;
      if (due <= 1 || !this.#hasJoined || this.#missing !== undefined || this.#acked() !== this.#written) {
        const at = this.mono();
        const isWritten = await this.#write(false);
        if (isWritten) lastWrite = at;
        isDone &&= isWritten;
      }
      if (isDone && this.#acked() !== this.#written) continue;
      await this.pause(
        isDone ? Math.max(20, lastWrite + (this.lease / BEATS) * 0.9 - this.mono()) : 200,
        (wake) => (this.#wake = wake),
      );
    }
  }

  async #apply(root: AllocationRoot): Promise<void> {
    if (!this.copy || !isRootBehind(root, this.copy)) this.copy = root;
    if (!countsFor(this.belief, root)) return;
    const inc = this.inc;
    const keys = root.members.get(inc) ?? [];
    for (const key of keys.filter((each) => !this.pages.has(each))) {
      const text = await this.world.read(this, pageSlot(key));
      if (!text) return;
      const page = text.value === undefined ? undefined : decodeOwnedPage(key, text.value);
      if (page) this.pages.set(key, page);
    }
    this.#lapse();
    if (this.inc !== inc) return;
    const { belief, added, renewed, revoked, missing } = finish(applyRoot(this.belief, root, this.pages));
    this.belief = belief;
    this.#missing = missing[0];
    for (const { id } of [...added, ...renewed]) this.checker.begins(this, id);
    if (revoked) this.#runCallback(inc, revoked.id);
    for (const key of this.pages.keys()) if (!keys.includes(key)) this.pages.delete(key);
  }

  #runCallback(inc: string, id: number): void {
    const { chance } = this.world;
    const isLong = this.world.has('longCallback') && chance.happens(0.5);
    const bounded = Math.min(isLong ? chance.between(0, 2 * LEASE) : chance.between(5, 35), LEASE / 2);
    this.world.on(this, bounded, () => {
      if (this.inc === inc) this.belief = endRevocation(this.belief, { id });
      this.#wake?.();
    });
  }

  /** The lease ran out by this node's own clock. */
  #lapse(): void {
    if (this.#hasJoined && !this.isHeld) this.#newIncarnation();
  }

  #newIncarnation(): void {
    this.#incarnation = nextIncarnation(this.#incarnation);
    this.belief = noBelief(incarnationId(this.#incarnation), this.belief.top);
    this.#hasJoined = false;
    this.#leaseEnd = -Infinity;
    this.#missing = undefined;
  }

  #acked(): string {
    return JSON.stringify(acknowledgementOf(this.belief) ?? null);
  }

  #isGone(): boolean {
    const { owned, ending, applied } = this.belief;
    return this.isLeaving && !!applied && owned.size + ending.length === 0 && this.#acked() === this.#written;
  }

  async #leave(): Promise<void> {
    while (!(await this.#write(true))) await this.pause(200);
    this.isStopped = true;
  }

  async #write(isLast: boolean): Promise<boolean> {
    for (let attempt = 0; attempt < 5; attempt++) {
      const key = registryKey(this.#registryPage);
      const found = await this.world.read(this, key);
      if (!found) return false;
      this.#lapse();
      const { inc } = this;
      const { former } = this.#incarnation;
      const acked = this.#acked();
      const page = pageAt(found.value, () => this.world.id());
      const sent = this.mono();
      const answer = await this.world.replace(
        this,
        key,
        found.value,
        JSON.stringify(this.#nextPage(page, former, isLast)),
      );
      if (!answer) {
        // The join may come late, when this incarnation was already absent for long.
        if (!this.#hasJoined && this.inc === inc) this.#newIncarnation();
        return false;
      }
      if (!answer.value) continue;
      this.world.hint();
      if (isLast) return true;
      this.#lapse();
      if (this.inc !== inc) continue;
      this.#renewed(sent + this.lease - TOLERANCE, former, acked);
      return true;
    }
    return false;
  }

  #renewed(end: number, former: readonly string[], acked: string): void {
    const wasHeld = this.isHeld;
    this.#incarnation = withoutFormer(this.#incarnation, former);
    this.#hasJoined = true;
    this.#writtenBeat = this.#beat;
    this.#written = acked;
    this.#missing = undefined;
    this.#leaseEnd = Math.max(this.#leaseEnd, end);
    if (!wasHeld) for (const id of this.belief.owned.keys()) this.checker.begins(this, id);
  }

  /** The store lost this node's entry, or put back an older one: a new lineage makes every node watch the page anew. */
  #hasLostEntry({ entries }: RegistryText): boolean {
    return this.#hasJoined && (entries.find(({ inc }) => inc === this.inc)?.beat ?? 0) < this.#writtenBeat;
  }

  #nextPage(page: RegistryText, former: readonly string[], isLast: boolean): RegistryText {
    const others = page.entries.filter(({ inc }) => inc !== this.inc && !former.includes(inc));
    const now = this.world.latest();
    const entry = {
      inc: this.inc,
      node: this.name,
      instance: this.instance,
      startedAt: 0,
      weight: this.isLeaving ? 0 : this.weight,
      beat: ++this.#beat,
      expiresAt: now + this.lease,
      duration: this.lease,
      acked: acknowledgementOf(this.belief),
      top: this.belief.top,
      missing: this.#missing,
    };
    return {
      born: this.#hasLostEntry(page) ? this.world.id() : page.born,
      seq: page.seq + 1,
      entries: isLast ? others : [...others, entry],
      ended: [...new Set([...page.ended, ...former, ...(isLast ? [this.inc] : [])])],
      nonce: this.world.id(),
    };
  }
}
