import { decodeSchedule, SCHEDULE_TYPE } from '../../../lib/tasks/rules/schedule-record.js';
import { decodeTask } from '../../../lib/tasks/rules/task.codec.js';
import { hasEnded } from '../../../lib/tasks/rules/transitions.js';
import { EPOCH } from '../machines/sim-process.js';
import type { SchedulePlan } from './schedule-plan.js';
import type { TasksScene } from './tasks-scene.js';

export const SCHEDULE = 'tick';
const KEY = `@${SCHEDULE}`;
const TASKS = `${SCHEDULE_TYPE}${SCHEDULE}:`;

/** ms after which a node that lives has taken over from others. */
const TAKEN_OVER = 60_000;

/**
 * Looks at every write of the record of a schedule and of its tasks.
 *
 * | promise | it means                                                                                 |
 * | ------- | ---------------------------------------------------------------------------------------- |
 * | C1      | a planned time is submitted at most once, also after its task is forgotten                |
 * | C2      | the last planned time only grows, and only ticks that were decided are submitted         |
 * | C3      | no tick is lost, but by a downtime of all nodes; after the trouble ticks go on            |
 * | C4      | a tick is submitted after the end of the former run, in the modes that say so             |
 * | C5      | no tick is submitted before its time                                                     |
 */
export class ScheduleChecker {
  #since?: number;
  #last = -Infinity;
  #run?: number;
  readonly #decided = new Set<number>();
  /** Ticks that were submitted, and whether their runs have ended. */
  readonly #submitted = new Map<number, boolean>();
  #waiting: readonly number[] = [];

  constructor(
    readonly plan: SchedulePlan,
    private readonly scene: TasksScene,
  ) {}

  /** Number of ticks that were submitted. */
  get submitted(): number {
    return this.#submitted.size;
  }

  observe(key: string, former: string | undefined, next: string | undefined): void {
    if (key === KEY && next !== undefined) this.#recordWritten(next);
    if (key.startsWith(TASKS)) this.#taskWritten(Date.parse(key.slice(TASKS.length)), former, next);
  }

  /** C3: waits until ticks of the time after the trouble have run; then checks that no tick is missing. */
  async goesOn(): Promise<void> {
    const { time, checker } = this.scene;
    const target = EPOCH + time.now + 2 * this.plan.interval;
    const isReached = () => [...this.#submitted].some(([tick, isOver]) => tick >= target && isOver);
    if (!(await time.pass(TAKEN_OVER, isReached))) checker.violated(`C3 no tick ran within ${TAKEN_OVER} ms`);
  }

  /** C3: call this before a downtime of all nodes. Ticks may be skipped in one mode. */
  expectNoneLost(): void {
    const { checker } = this.scene;
    const { interval, mode } = this.plan;
    if (mode === 'at-most-one-running') return;
    const first = Math.floor(this.#since! / interval) * interval + interval;
    const open = new Set(this.#waiting);
    for (let tick = first; tick <= this.#last; tick += interval) {
      if (!this.#submitted.has(tick) && !open.has(tick)) checker.violated(`C3 ${iso(tick)} is lost`);
    }
  }

  #recordWritten(text: string): void {
    const { checker, trace, time } = this.scene;
    const { since, last = -Infinity, run, pending, waiting, nonce } = decodeSchedule(text);
    trace.note('', () => `  schedule: ${JSON.stringify({ last, run, pending, waiting, nonce })}`);
    this.#since ??= since;
    if (last < this.#last) checker.violated(`C2 the last planned time went back to ${iso(last)}`);
    const added = pending.filter((tick) => !this.#decided.has(tick));
    for (const tick of added) {
      const early = tick - (EPOCH + time.now);
      if (early > this.scene.settings.clockTolerance) checker.violated(`C5 ${iso(tick)} was decided ${early} ms early`);
      this.#decided.add(tick);
    }
    const isSerial = this.plan.mode !== 'once-per-tick';
    if (isSerial && added.length > 0 && this.#run !== undefined && !this.#submitted.get(this.#run)) {
      checker.violated(`C4 ${iso(added[0]!)} was decided before the run of ${iso(this.#run)} had ended`);
    }
    this.#waiting = waiting;
    this.#last = last;
    if (run !== undefined) this.#run = run;
    if (added.length > 0) this.scene.decided(nonce.split('.')[0]!);
  }

  #taskWritten(tick: number, former: string | undefined, next: string | undefined): void {
    const { checker } = this.scene;
    if (next === undefined) return;
    if (former === undefined) {
      if (this.#submitted.has(tick)) checker.violated(`C1 ${iso(tick)} was submitted again`);
      if (!this.#decided.has(tick)) checker.violated(`C2 ${iso(tick)} was submitted, and not decided`);
    }
    this.#submitted.set(tick, hasEnded(decodeTask(next)));
  }
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
