import type { Context } from '../../core/context/context.js';
import { show } from '../../core/decision/index.js';
import type { DueTicks } from './due-ticks.js';
import type { Decision } from './plan.js';
import type { ParsedSchedule } from './schedule-options.js';
import { MOST_TICKS, type ScheduleRecord, silentUntil } from './schedule-record.js';
import { iso } from './tick-id.js';

/** The events of one schedule on this node. */
export class ScheduleReports {
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
