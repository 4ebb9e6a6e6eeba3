import { eachInPieces, type Pieces } from '../core/async/slices.js';
import type { Context } from '../core/context/context.js';
import { show } from '../core/decision/index.js';
import type { ParticipantEntry } from './round/registry-view.js';

/** ms, besides lease and `clockTolerance`, after which resources without an owner are an alarm. */
const PATIENCE = 5000;

/** A fault of a group. */
export interface GroupFault {
  /** Name of the group. */
  readonly subject: string;
  /** In the node's monotonic ms. */
  readonly since: number;
  /** The fault and how long it has lasted, for people. */
  readonly sentence: string;
}

/**
 * Raises an alarm, once each time, if resources of a group have had no owner for too long, or may have had none. While many
 * resources move one after another, there is always one without an owner, so each has a time of its own.
 */
export class UnownedAlarm {
  /** The list of the last call of {@link observe}. */
  #listed: readonly string[] | undefined = [];
  /** Resource -> monotonic ms since which it has had no owner. */
  #since: ReadonlyMap<string, number> = new Map();
  /** Monotonic ms since which the leader has not been able to decide. */
  #undecidedSince: number | undefined;
  /** Monotonic ms of the longest of these times. */
  #first: number | undefined;
  #sentence: string | undefined;

  constructor(
    private readonly group: string,
    private readonly context: Context,
    /** ms */
    private readonly lease: number,
  ) {}

  /** The present alarm. */
  get current(): GroupFault | undefined {
    if (this.#first === undefined || this.#sentence === undefined) return undefined;
    return { subject: this.group, since: this.#first, sentence: this.#sentence };
  }

  reset(): void {
    this.#listed = [];
    this.#since = new Map();
    this.#undecidedSince = undefined;
    this.#first = undefined;
    this.#sentence = undefined;
  }

  /**
   * Takes note of the resources without an owner. Call {@link check} after it.
   *
   * @param unowned undefined if they can't be known, because the leader can't decide
   */
  *observe(unowned: readonly string[] | undefined): Pieces<void> {
    const now = this.context.nodeClock.monotonic();
    if (unowned === undefined) this.#undecidedSince ??= now;
    else if (unowned !== this.#listed) yield* this.#take(unowned, this.#undecidedSince ?? now);
    this.#listed = unowned;
  }

  /** @param since of those that are new: they may have lost their owners while the leader could not decide */
  *#take(unowned: readonly string[], since: number): Pieces<void> {
    const former = this.#since;
    const next = new Map<string, number>();
    yield* eachInPieces(unowned, (id) => void next.set(id, former.get(id) ?? since));
    this.#since = next;
    this.#undecidedSince = undefined;
  }

  /**
   * Call this again and again.
   *
   * @param why the reason, in a sentence
   * @returns ms until the alarm is due, if it is to come; call this again then
   */
  check(why: () => string): number | undefined {
    const { nodeClock, timing, events } = this.context;
    const now = nodeClock.monotonic();
    const patience = this.lease + timing.clockTolerance + PATIENCE;
    const isLate = (since: number) => now - since >= patience;
    this.#first = this.#undecidedSince;
    let late = 0;
    for (const since of this.#since.values()) {
      this.#first = Math.min(since, this.#first ?? since);
      if (isLate(since)) late++;
    }
    if (this.#first === undefined || !isLate(this.#first)) {
      this.#sentence = undefined;
      return this.#first === undefined ? undefined : this.#first + patience - now;
    }
    const isNew = this.#sentence === undefined;
    const { group } = this;
    const count = this.#undecidedSince === undefined ? late : undefined;
    this.#sentence = `${sentenceOf(group, count, `for ${Math.round((now - this.#first) / 1000)} s`)}: ${why()}`;
    if (!isNew) return undefined;
    const counted = count === undefined ? {} : { count };
    events.next({ type: 'resources-unowned', group, ...counted, sentence: this.#sentence });
    return undefined;
  }
}

function sentenceOf(group: string, count: number | undefined, time: string): string {
  if (count !== undefined) return `${count} resources of group ${show(group)} have had no owner ${time}`;
  return `the leader has not been able to decide on group ${show(group)} ${time}, and resources may have no owner`;
}

/** Why resources have no owner, although the leader decides. */
export function reasonOf(living: Iterable<ParticipantEntry>, drained: ReadonlySet<string>): string {
  const canOwn = [...living].some(({ weight, node }) => weight > 0 && !drained.has(node));
  if (!canOwn) return 'no living node may own them: end a drain, or start a node';
  return 'a former owner has not given them back, or the owner map can not be written';
}
