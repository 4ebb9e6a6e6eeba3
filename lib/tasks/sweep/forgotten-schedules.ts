import type { Context } from '../../core/context/context.js';
import type { LivingNodes } from './readdressing.js';
import type { TaskStore } from '../records/task-store.js';
import {
  KEPT,
  SCHEDULES,
  type ScheduleRecord,
  decidedUntil,
  readableSchedule,
  scheduleKey,
  SCHEDULE_TYPE,
} from '../rules/schedule-record.js';
import { readTicks } from '../../core/cron/ticks.js';

/** ms between two looks. */
const INTERVAL = 3_600_000;
/** Records of one look. The next look goes on behind them. */
const ROWS = 200;

/**
 * Removes the records of schedules that no code has any more:
 *
 *     last tick decided   next tick: no node decides           the record is removed
 *     │                   │<─────────── 7 days, 1 hour ──────>│
 *
 * A node decides about each tick, so no node has had the schedule in this time, or its type is paused. So it also looks
 * whether a living node handles the type. It removes only what it saw an hour before, too: after a downtime of the whole
 * cluster, the nodes that have the schedule may start later than this one.
 *
 * A node that comes back makes the record anew. It does not count ticks that are 7 days old, so it submits none of those that
 * were submitted before the removal, whatever it knows.
 */
export class ForgottenSchedules {
  #from = SCHEDULES[0];
  /** When it looks next: ms of the node's monotonic clock. */
  #next = -Infinity;
  /** Texts of the former look, by name. */
  #suspects = new Map<string, string>();
  #found = new Map<string, string>();

  constructor(
    private readonly store: TaskStore,
    private readonly nodes: LivingNodes,
    private readonly nodeClock: Pick<Context['nodeClock'], 'monotonic'>,
  ) {}

  /** @param now cluster time that surely has come @throws StoreUnavailableError, UnknownOutcomeError */
  async runPass(now: number): Promise<void> {
    const at = this.nodeClock.monotonic();
    if (at < this.#next) return;
    const rows = await this.store.paced.range(this.#from, SCHEDULES[1], ROWS);
    for (const { text } of rows) {
      await this.store.slices.turn();
      const record = readableSchedule(text);
      if (record && isForgotten(record, now)) this.#found.set(record.name, text);
    }
    if (rows.length === ROWS) return void (this.#from = `${rows.at(-1)!.text}\0`);
    await this.#removeSuspects();
    this.#suspects = this.#found;
    this.#found = new Map();
    this.#from = SCHEDULES[0];
    this.#next = at + INTERVAL;
  }

  async #removeSuspects(): Promise<void> {
    const forgotten = [...this.#found].filter(([name, text]) => this.#suspects.get(name) === text);
    if (forgotten.length === 0) return;
    const handled = new Set((await this.nodes()).flatMap(({ tasks = [] }) => tasks.map(({ type }) => type)));
    for (const [name, text] of forgotten) {
      if (!handled.has(SCHEDULE_TYPE + name)) await this.store.texts.write(scheduleKey(name), text, undefined);
    }
  }
}

function isForgotten(record: ScheduleRecord, now: number): boolean {
  const { expression, timeZone, pending, waiting } = record;
  const last = decidedUntil(record);
  const before = now - KEPT - INTERVAL;
  // Another node may still submit the ticks that are noted.
  if (last >= before || pending.length > 0 || waiting.length > 0) return false;
  const read = readTicks(expression, timeZone);
  // Not without the package that reads it: the next tick may be years away.
  return 'ticks' in read && read.ticks.next(last) < before;
}
