import { PAGE_PREFIX } from '../../../lib/core/members/member-page.js';
import type { SimProcess } from '../machines/sim-process.js';
import type { VirtualTime } from './virtual-time.js';

/** A node as the checker sees it. */
export interface Member {
  readonly name: string;
  readonly process: SimProcess;
  /** Id of the lease that it counts on, by its own clocks. Only reads the clocks. */
  readonly incarnation: string | undefined;
}

interface PageText {
  readonly entries: readonly {
    readonly instance: string;
    readonly inc: string;
    readonly beat: number;
    readonly duration: number;
    readonly ended?: true;
    readonly former?: readonly string[];
  }[];
}

/** ms: rounding of clocks. */
const SLACK = 0.01;

/**
 * Sees all membership leases at their true time, and says where a promise was broken. A process that is frozen is asked,
 * too: it counts on its lease as long as its clocks would say so.
 *
 * M1 from the moment at which any node has judged a lease to be over, or its own entry says so, its node does not count
 *    on it.
 * M3 a lease that its node did not count on at any moment is never counted on again, unless the node's wall clock was set
 *    back before the node noticed.
 * M4 a node counts on its lease from before it sent its last write: `clockTolerance` before the lease has passed since
 *    that write arrived in the store, the node must not count on it any more.
 *
 * M2, that all nodes know each other in the end, is checked when the faults are over.
 */
export class MembershipChecker {
  readonly #members = new Map<string, Member>();
  /** By instance: what it counted on when it was last looked at. */
  readonly #counted = new Map<string, string>();
  /** Leases that are over, and why. */
  readonly #over = new Map<string, string>();
  /** By instance: the lease that its node did not count on any more, and when that was seen. */
  readonly #lapsed = new Map<string, { readonly incarnation: string; readonly at: number }>();
  /** By incarnation: the last beat that reached the store. */
  readonly #beats = new Map<string, number>();

  readonly #reported = new Set<string>();

  constructor(
    private readonly time: VirtualTime,
    /** `clockTolerance` in ms. */
    private readonly tolerance: number,
    private readonly violated: (what: string) => void,
  ) {}

  add(member: Member): void {
    this.#members.set(member.name, member);
  }

  /** A write, in the order in which the store applied them. */
  written(key: string, text: string): void {
    if (!key.startsWith(PAGE_PREFIX)) return;
    for (const { instance, inc, beat, duration, ended, former = [] } of (JSON.parse(text) as PageText).entries) {
      const member = this.#members.get(instance);
      for (const over of ended ? [inc, ...former] : former) this.#over.set(over, 'its own entry says that it is over');
      if (!member || ended || (this.#beats.get(inc) ?? -1) >= beat) continue;
      this.#beats.set(inc, beat);
      const { process } = member;
      this.#checkEnd(member, inc, beat, process.monotonic() + duration - this.tolerance + SLACK);
    }
    this.check();
  }

  /** M1: a node says that the lease of another one is over. */
  judged(judge: string, instance: string, incarnation: string): void {
    this.#over.set(incarnation, `${judge} judged that it is over`);
    this.#check(instance);
  }

  /** Call it now and then. */
  check(): void {
    for (const instance of this.#members.keys()) this.#check(instance);
  }

  #check(instance: string): void {
    const member = this.#members.get(instance);
    if (!member || member.process.isCrashed) return;
    const { incarnation } = member;
    const former = this.#counted.get(instance);
    if (former !== undefined && former !== incarnation) {
      this.#lapsed.set(instance, { incarnation: former, at: this.time.now });
    }
    if (incarnation === undefined) return void this.#counted.delete(instance);
    this.#counted.set(instance, incarnation);
    const why = this.#over.get(incarnation);
    if (why !== undefined) this.#violatedOnce(incarnation, `M1 ${instance} counts on ${incarnation} although ${why}`);
    const lapsed = this.#lapsed.get(instance);
    if (lapsed?.incarnation === incarnation && member.process.setBackAt < lapsed.at) {
      this.#violatedOnce(incarnation, `M3 ${instance} counts on ${incarnation} again`);
    }
  }

  #violatedOnce(incarnation: string, what: string): void {
    if (this.#reported.has(incarnation)) return;
    this.#reported.add(incarnation);
    this.violated(what);
  }

  /** M4, when the node's monotonic clock says `at`, unless a later write has arrived until then. */
  #checkEnd(member: Member, inc: string, beat: number, at: number): void {
    const { name, process } = member;
    this.time.after(at - process.monotonic(), () => {
      if (process.isCrashed || this.#beats.get(inc) !== beat) return;
      if (process.monotonic() < at) return this.#checkEnd(member, inc, beat, at);
      this.check();
      if (member.incarnation === inc) this.violated(`M4 ${name} counts on ${inc} from later than its write arrived`);
    });
  }
}
