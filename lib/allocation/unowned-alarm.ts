import type { Context } from '../context/context.js';
import { show } from '../decision/index.js';
import type { ParticipantEntry } from './round/registry-view.js';

/** ms, besides lease and `clockTolerance`, after which resources without an owner are an alarm. */
const PATIENCE = 5000;

/** Resources that have had no owner for too long. */
export interface UnownedResources {
  /** Name of the group. */
  readonly subject: string;
  /** In the node's monotonic ms. */
  readonly since: number;
  /** Which ones and since when, for people. */
  readonly sentence: string;
}

/** Raises an alarm, once each time, if resources of a group have had no owner for too long, or may have had none. */
export class UnownedAlarm {
  #since: number | undefined;
  #sentence: string | undefined;

  constructor(
    private readonly group: string,
    private readonly context: Context,
    /** ms */
    private readonly lease: number,
  ) {}

  /** The present alarm. */
  get current(): UnownedResources | undefined {
    if (this.#since === undefined || this.#sentence === undefined) return undefined;
    return { subject: this.group, since: this.#since, sentence: this.#sentence };
  }

  reset(): void {
    this.#since = undefined;
    this.#sentence = undefined;
  }

  /**
   * Call this again and again.
   *
   * @param count number of resources without an owner; undefined if it can't be known, because the leader can't decide
   * @param why the reason, in a sentence
   * @returns ms until the alarm is due, if it is to come; call this again then
   */
  check(count: number | undefined, why: () => string): number | undefined {
    if (count === 0) {
      this.reset();
      return undefined;
    }
    const { nodeClock, timing, events } = this.context;
    this.#since ??= nodeClock.monotonic();
    const missing = nodeClock.monotonic() - this.#since;
    const left = this.lease + timing.clockTolerance + PATIENCE - missing;
    if (left > 0) return left;
    const isNew = this.#sentence === undefined;
    const { group } = this;
    this.#sentence = `${sentenceOf(group, count, `for ${Math.round(missing / 1000)} s`)}: ${why()}`;
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
