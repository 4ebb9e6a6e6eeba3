import { forEachLimit } from '../../core/async/for-each-limit.js';
import type { Context } from '../../core/context/context.js';
import { type DueTicks, dueTicks, type Decision, decide } from '../rules/schedule-ticks.js';
import type { ParsedSchedule } from '../rules/schedule-options.js';
import { KEPT, type ScheduleRecord, MOST_TICKS, silentUntil, iso } from '../rules/schedule-record.js';
import type { ScheduleRecords, Seen } from './schedule-records.js';
import { show } from '../../core/decision/index.js';

interface LookParts {
  readonly records: ScheduleRecords;
  readonly context: Context;
  /** Whether the type of the schedule is paused in the cluster, as this node knows. */
  readonly isPaused: () => boolean;
  /** Makes sure that `isPaused` is known. @throws errors of a store that can't be asked */
  readonly learnPause: () => Promise<void>;
  /** Waits for a later turn of the event loop if much was done in this one. */
  readonly turn: () => Promise<void> | undefined;
}

/** The next record. */
interface Step {
  readonly record: ScheduleRecord;
  /** Called when it is written. */
  readonly report?: () => void;
  /** Called after the write, however it ended. */
  readonly after?: () => Promise<unknown>;
}

/**
 * Looks at the record of one schedule, and does what is due:
 *
 * | the record                     | step                                                                      |
 * | ------------------------------ | ------------------------------------------------------------------------- |
 * | is missing                     | writes it                                                                 |
 * | has another expression         | writes its own at the first look: its ticks count from then on            |
 * | has ticks that are pending     | submits their tasks, then writes that nothing is pending                  |
 * | knows less ticks than came     | decides about them, and writes them as pending                            |
 *
 * Each write is by comparison. If another node was first, the next step begins with its record. So a crash after any step
 * does no harm, and a node with old knowledge can't write.
 */
export class ScheduleReconciler {
  readonly #reports: ScheduleReports;
  #seen?: Seen | undefined;
  /** Whether the record may be another than the one that was seen last, because a write of this node failed. */
  #isUnsure = false;
  /** Cluster time of the first look. */
  #startedAt?: number;
  /** Whether a look has come to its end. */
  #hasLooked = false;
  #isHeldBack = false;

  constructor(
    private readonly schedule: ParsedSchedule,
    private readonly parts: LookParts,
  ) {
    this.#reports = new ScheduleReports(schedule, parts.context.events);
  }

  /** Whether this node wrote the record last, as far as it knows. Then it needs no read, and acts first. */
  get isFirst(): boolean {
    const { by, pending } = this.#seen?.record ?? {};
    return !this.#isUnsure && by === this.parts.context.node.instance && pending?.length === 0;
  }

  /** Whether ticks wait for the end of the former run. */
  get isWaiting(): boolean {
    return this.#seen !== undefined && this.#seen.record.waiting.length > 0;
  }

  /** Whether the last look decided about no tick because the schedule is paused. */
  get isHeldBack(): boolean {
    return this.#isHeldBack;
  }

  /**
   * @param now cluster time that surely has come
   * @throws StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  async look(now: number): Promise<void> {
    const { records, context } = this.parts;
    this.#startedAt ??= now;
    // The ticks of many schedules may come at one second.
    await this.parts.turn();
    // A node that has just started would decide about the ticks of a pause that it does not know yet.
    if (!this.#hasLooked) await this.parts.learnPause();
    let seen = this.isFirst ? this.#seen : await records.find(this.schedule.name);
    // At the first look, a record of this node is that of a schedule which it has ended and made anew.
    if (seen && (this.#hasLooked || seen.record.by !== context.node.instance)) this.#reports.compare(seen.record);
    this.#isUnsure = true;
    for (let step = await this.#stepAfter(seen, now); step; step = await this.#stepAfter(seen, now)) {
      const { record, report, after } = step;
      seen = await records.write(seen, record).finally(after);
      if (seen?.record === record) report?.();
    }
    this.#seen = seen;
    this.#isUnsure = false;
    this.#hasLooked = true;
    if (seen) this.#reports.waitsFrom(this.#from(seen.record), now);
  }

  /**
   * Call this before the run of a tick: a tick that is pending must not end, because it could be forgotten, and submitted
   * again.
   *
   * @throws as {@link look}
   */
  async confirm(tick: number): Promise<void> {
    const { records, context } = this.parts;
    for (let seen = await records.find(this.schedule.name); seen;) {
      const pending = seen.record.pending.filter((each) => each !== tick);
      if (pending.length === seen.record.pending.length) return;
      seen = await records.write(seen, { ...seen.record, pending, nonce: context.random.id() });
    }
  }

  /** @returns undefined if nothing is to do */
  async #stepAfter(seen: Seen | undefined, now: number): Promise<Step | undefined> {
    if (!seen) return { record: this.#first(now) };
    const { pending } = seen.record;
    if (pending.length > 0) {
      const offers: (() => Promise<void>)[] = [];
      const submit = async (tick: number) =>
        void offers.push(await this.parts.records.submit(this.schedule, tick, seen));
      await forEachLimit(pending, submit);
      // Not before: the node that runs a tick would have to write the same.
      const after = () => Promise.all(offers.map((offer) => offer()));
      return { record: { ...seen.record, ...this.#decider(), pending: [] }, after };
    }
    if (!this.#hasLooked && !this.#isOwn(seen.record)) return { record: this.#edited(seen.record) };
    this.#isHeldBack = this.parts.isPaused();
    return this.#isHeldBack ? undefined : this.#plan(seen.record, now);
  }

  async #plan(record: ScheduleRecord, now: number): Promise<Step | undefined> {
    const due = await dueTicks(this.schedule, this.#from(record), now, this.parts.turn);
    if (!due && record.waiting.length === 0) return undefined;
    const isOver = await this.#isFormerOver(record);
    if (!due && !isOver) return undefined;
    const decision = decide(record, this.schedule, due, isOver, this.#decider());
    return { record: decision.next, report: () => this.#report(decision, due) };
  }

  /** Ticks after that time count. */
  #from(record: ScheduleRecord): number {
    const { since, last = since, editedAt = since } = record;
    // If the store went back to old data, this node may know more.
    const known = Math.max(last, this.#seen?.record.last ?? last);
    // Earlier ticks of a new expression were never planned.
    return Math.max(known, this.#isOwn(record) ? editedAt : this.#startedAt!);
  }

  #isOwn({ expression, timeZone }: ScheduleRecord): boolean {
    return expression === this.schedule.expression && timeZone === this.schedule.timeZone;
  }

  /** At the first look only: else nodes with two expressions would write in turn, as long as both run. */
  #edited(record: ScheduleRecord): ScheduleRecord {
    const { expression, timeZone, mode } = this.schedule;
    return { ...record, expression, timeZone, mode, editedAt: this.#startedAt!, ...this.#decider() };
  }

  async #isFormerOver({ name, run }: ScheduleRecord): Promise<boolean> {
    if (this.schedule.mode === 'once-per-tick' || run === undefined) return true;
    return this.parts.records.isOver(name, run);
  }

  /**
   * The record of a schedule that is new, was lost, or was removed because no node had it for long. A tick that this node knows
   * is not submitted again, nor an old one: other nodes may have submitted it before the removal.
   */
  #first(now: number): ScheduleRecord {
    const { name, expression, timeZone, mode } = this.schedule;
    const { since: seenSince = now, last, run } = this.#seen?.record ?? {};
    const since = Math.max(seenSince, now - KEPT);
    const known = { ...(last !== undefined && last > since && { last }), ...(run !== undefined && { run }) };
    const lists = { pending: [], waiting: [], skipped: [] };
    return { name, expression, timeZone, mode, since, ...known, ...lists, ...this.#decider() };
  }

  #report(decision: Decision, due: DueTicks | undefined): void {
    this.#reports.decided(decision, due);
  }

  #decider() {
    const { node, random } = this.parts.context;
    return { by: node.instance, nonce: random.id() };
  }
}

/** The events of one schedule on this node. */
class ScheduleReports {
  /** Expressions of other nodes that were reported. */
  readonly #others = new Set<string>();
  /** The time that was reported last, while it is to come. */
  #silentUntil?: number | undefined;

  constructor(
    private readonly schedule: ParsedSchedule,
    private readonly events: Context['events'],
  ) {}

  /** Reports once that another node has another expression for the name. */
  compare({ expression, timeZone }: ScheduleRecord): void {
    const [own, other] = [textOf(this.schedule), textOf({ expression, timeZone })];
    if (own === other || this.#others.has(other)) return;
    this.#others.add(other);
    const { name } = this.schedule;
    const sentence =
      `schedule ${show(name)} is ${own} on this node, and ${other} on another node: ` +
      `while both run, the ticks of both count. After a deploy this is no fault`;
    this.events.next({ type: 'schedule-differs', schedule: name, own, other, sentence });
  }

  /**
   * Call this after each look. Reports once that no tick runs for long, because the clock of the store was set back.
   *
   * @param from ticks after that time count
   * @param now cluster time in ms
   */
  waitsFrom(from: number, now: number): void {
    const until = silentUntil(from, now);
    if (until === this.#silentUntil) return;
    this.#silentUntil = until;
    if (until === undefined) return;
    const { name } = this.schedule;
    const sentence =
      `schedule ${show(name)} runs no tick up to ${iso(until)}: the store has noted that time as past, and it is ` +
      `${iso(now)} by its clock, which was ahead and was set back. It goes on by itself then; to have ticks ` +
      `before, give it another name`;
    this.events.next({ type: 'schedule-silent', schedule: name, until, sentence });
  }

  /** Call this when a decision is written. */
  decided({ next, skipped }: Decision, due: DueTicks | undefined): void {
    const { name, missed } = this.schedule;
    if (due?.missed !== undefined) {
      const times = `from ${iso(due.missed)} to ${iso(due.last)}`;
      const sentence = `ticks of schedule ${show(name)} ${times} were missed: ${EFFECTS[missed]}`;
      this.events.next({ type: 'ticks-missed', schedule: name, from: due.missed, to: due.last, sentence });
    }
    for (const at of skipped) {
      const sentence = `schedule ${show(name)}: the tick of ${iso(at)} is skipped, because of the run of ${iso(next.run!)}`;
      this.events.next({ type: 'tick-skipped', schedule: name, at, sentence });
    }
  }
}

const EFFECTS = {
  skip: 'those older than a minute do not run',
  once: 'one run stands for those older than a minute',
  all: `they run now, at most the last ${MOST_TICKS}`,
} as const;

function textOf({ expression, timeZone }: Pick<ParsedSchedule, 'expression' | 'timeZone'>): string {
  return `${show(expression)} in ${timeZone}`;
}
