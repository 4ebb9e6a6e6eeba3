import type { StoredPermit } from '../../../lib/core/decision/index.js';
import type { SimProcess } from '../machines/sim-process.js';
import { LeadershipChecker } from './leadership-checker.js';
import { MembershipChecker } from './membership-checker.js';
import { NameHistory } from './name-history.js';
import type { Trace } from './trace.js';
import type { VirtualTime } from './virtual-time.js';
import { writtenIn } from './written-in.js';

/** A lease that its holder counts on. */
export interface Counted {
  readonly permit: StoredPermit;
  /** ms, by the holder's own clocks. */
  readonly remaining: number;
  /** Set once the holder does not count on it any more. */
  readonly end?: string | undefined;
  /** The uses that must hear of its end. */
  readonly users: { readonly size: number };
}

interface Held {
  readonly semaphore: string;
  readonly node: string;
  readonly process: SimProcess;
  readonly lease: Counted;
}

/** ms: timers have whole ms, and the loop may be a turn behind. */
const TIMER_SLACK = 5;
/** Mark in a violation that a store split into two sides explains. */
export const TWO_SIDES = 'on two sides';
/** ms in which a process finds out that its clocks moved: a machine that slept stops its timers, too. */
const BLINK = 1000;

/**
 * Sees everything at its true time, and says where a promise was broken:
 *
 * S1 never more surely held than `permits`, and never two in one slot. Surely held: a process that is not dead would
 *    find it held if it read its own clocks at that moment; a frozen one, too.
 * S2 a grant that was written after another one was returned has the higher token.
 * S4 a process that runs has heard of the end of its lease (it ended, or its clocks were set meanwhile).
 *
 * The promises about terms and memberships are in {@link LeadershipChecker} and {@link MembershipChecker}.
 */
export class Checker {
  readonly violations: string[] = [];
  grants = 0;
  #held = new Set<Held>();
  /** Ids of permits that an operator revoked: their holders may not know yet. */
  #revoked = new Set<string>();
  readonly #histories = new Map<string, NameHistory>();
  /** Until then (ms) two sides of the store may each grant on their own, and no count is promised. */
  #twoSidesUntil = -Infinity;

  readonly leaders: LeadershipChecker;
  readonly members: MembershipChecker;

  /** @param tolerance `clockTolerance` in ms */
  constructor(
    private readonly time: VirtualTime,
    private readonly trace: Trace,
    tolerance: number,
  ) {
    this.leaders = new LeadershipChecker((what) => this.#violated(what));
    this.members = new MembershipChecker(time, tolerance, (what) => this.#violated(what));
  }

  /** A write, in the order in which the store applied them. */
  written(key: string, text: string): void {
    for (const [semaphore, written] of writtenIn(key, text)) this.#historyOf(semaphore).written(written);
    this.members.written(key, text);
  }

  /** A grant came back to its process. */
  granted(semaphore: string, node: string, process: SimProcess, lease: Counted): void {
    const { permit } = lease;
    this.grants++;
    if (lease.remaining <= 0) this.#violated(`${node} was given ${nameOf(permit)} when it was over`);
    this.#held.add({ semaphore, node, process, lease });
    this.#checkCount(semaphore, permit);
    this.#historyOf(semaphore).returned(permit);
  }

  revoked(permitId: string): void {
    this.#revoked.add(permitId);
  }

  /** A promise of another kind was broken. */
  violated(what: string): void {
    this.#violated(what);
  }

  /** Whether any process still counts on a permit. */
  get isAnythingHeld(): boolean {
    return this.#surelyHeld().length > 0;
  }

  /** The store goes on in two sides, without a quorum. */
  splitUp(): void {
    this.#twoSidesUntil = Infinity;
  }

  /** @param longest ms for which a permit of either side may last on */
  merged(longest: number): void {
    if (this.#twoSidesUntil === Infinity) this.#twoSidesUntil = this.time.now + longest;
  }

  /** Looks at all that can be broken without an event. Call it now and then. */
  look(): void {
    this.checkEndsHeard();
    this.leaders.check();
    this.members.check();
  }

  /** S4. */
  checkEndsHeard(): void {
    for (const held of this.#held) {
      const { process, lease } = held;
      if (process.isCrashed) this.#held.delete(held);
      if (!process.isRunning || this.time.now - process.undisturbedSince < BLINK + TIMER_SLACK) continue;
      const over = -lease.remaining;
      if (over < TIMER_SLACK) continue;
      this.#held.delete(held);
      if (lease.users.size > 0) {
        this.#violated(`S4 ${held.node} did not hear that ${nameOf(lease.permit)} ended ${over.toFixed(0)} ms ago`);
      }
    }
  }

  #historyOf(semaphore: string): NameHistory {
    const known = this.#histories.get(semaphore);
    if (known) return known;
    const history = new NameHistory((what) => this.#violated(`${semaphore}: ${what}`));
    this.#histories.set(semaphore, history);
    return history;
  }

  #checkCount(semaphore: string, newcomer: StoredPermit): void {
    const held = this.#surelyHeld().filter((each) => each.semaphore === semaphore);
    const limit = this.#historyOf(semaphore).limitSince(newcomer.id);
    const list = () => `${semaphore}: ${held.map((each) => `${each.node} ${nameOf(each.lease.permit)}`).join(', ')}`;
    if (held.length > limit) this.#violated(`S1 ${held.length} held where ${limit} may be: ${list()}`);
    const slots = new Set(held.map((each) => each.lease.permit.slot));
    if (slots.size < held.length) this.#violated(`S1 one slot is held twice: ${list()}`);
  }

  /** `remaining` only reads; `isHeld` would end a lease on behalf of a process that may be frozen. */
  #surelyHeld(): Held[] {
    return [...this.#held].filter(
      ({ process, lease }) =>
        !process.isCrashed && !this.#revoked.has(lease.permit.id) && lease.remaining > 0 && lease.end === undefined,
    );
  }

  #violated(what: string): void {
    const isOnTwoSides = this.time.now <= this.#twoSidesUntil && /\bS[123] /.test(what);
    const at = (this.time.now / 1000).toFixed(4);
    this.violations.push(`at ${at}${isOnTwoSides ? `, ${TWO_SIDES}` : ''}: ${what}`);
    this.trace.note('!!!', () => what);
  }
}

function nameOf({ id, slot, token }: StoredPermit): string {
  return `${id} (slot ${slot}, token ${token})`;
}
