import { START } from '../support/fake-time.js';

export const DURATION = 10_000;
export const TOLERANCE = 500;

export interface ModelPermit {
  readonly node: number;
  readonly slot: number;
  readonly token: number;
  /** Cluster time since the start, in ms. */
  endsAt: number;
  /** How many uses of it the node has. */
  uses: number;
  /** A run wanted it kept until it expires: then no release frees it. */
  isKept: boolean;
}

export type ModelOutcome = 'granted' | 'refreshed' | 'denied';

/** Model of a semaphore without a store, a clock or a record: a list of permits and the time. */
export class PlainModel {
  now = 0;
  permits = 1;
  isPaused = false;
  /** Which node's processes are at work now: a crash puts another in its place. */
  nodes = [0, 1, 2];
  held: ModelPermit[] = [];
  #lastToken = 0;
  #nextNode = 3;

  acquire(place: number): ModelOutcome {
    const node = this.nodes[place]!;
    const own = this.leaseOf(place);
    if (this.isPaused) return 'denied';
    if (own) return own.slot < this.permits ? this.#refresh(own, 1) : 'denied';
    const others = this.#alive().filter((permit) => permit.node !== node);
    if (others.length >= this.permits) return 'denied';
    let slot = 0;
    while (others.some((permit) => permit.slot === slot)) slot++;
    this.#lastToken = Math.max(this.#lastToken + 1, (START + this.now) * 1024);
    const granted = { node, slot, token: this.#lastToken, endsAt: this.now + DURATION, uses: 1, isKept: false };
    this.held = [...others, granted];
    return 'granted';
  }

  refresh(place: number): boolean {
    const own = this.leaseOf(place);
    if (!own || own.uses === 0) return false;
    if (own.slot >= this.permits && this.permits > 0) return false;
    this.#refresh(own, 0);
    return true;
  }

  /** Ends one use; `keep`: the permit stays until it expires all the same. */
  release(place: number, keep = false): void {
    const own = this.leaseOf(place);
    if (!own || own.uses === 0) return;
    own.uses--;
    own.isKept ||= keep;
    if (own.uses === 0 && !own.isKept) this.held = this.held.filter((permit) => permit !== own);
  }

  crash(place: number): void {
    this.nodes[place] = this.#nextNode++;
  }

  /** Permits that the node may count on, by its own clocks. */
  leaseOf(place: number): ModelPermit | undefined {
    return this.held.find((permit) => permit.node === this.nodes[place] && this.now < permit.endsAt - TOLERANCE);
  }

  /** Permits that keep other nodes out. */
  get taken(): { slot: number; token: number }[] {
    return this.#alive()
      .map(({ slot, token }) => ({ slot, token }))
      .toSorted((one, other) => one.slot - other.slot);
  }

  #refresh(permit: ModelPermit, uses: number): ModelOutcome {
    permit.endsAt = this.now + DURATION;
    permit.uses += uses;
    return 'refreshed';
  }

  #alive(): ModelPermit[] {
    return this.held.filter((permit) => this.now < permit.endsAt + TOLERANCE);
  }
}
