import type { ParsedSchedule } from './schedule-options.js';
import { MOST_TICKS, MOST_SKIPPED, type ScheduleRecord } from './schedule-record.js';
import type { Ticks } from '../../core/cron/ticks.js';
import type { SkippedTick } from './task-parts.js';

/** ms by which a tick may be late and still be on time. */
export const LATE = 60_000;
/** ms: no more ticks come in this time. */
const SHORTEST_SPAN = MOST_TICKS * 1000;

/** The ticks that came since the last one that was decided. */
export interface DueTicks {
  /** Those that are to run, in their order. */
  readonly run: readonly number[];
  /** The last one that came. */
  readonly last: number;
  /** Present if some were missed: the first one. */
  readonly missed?: number;
}

/**
 * The ticks after `from` up to `now`. A tick is on time until it is {@link LATE} old; those before were missed:
 *
 * | `missed` | the missed ones                                                        |
 * | -------- | ---------------------------------------------------------------------- |
 * | `skip`   | do not run                                                             |
 * | `once`   | the last one runs, unless another one is on time                       |
 * | `all`    | run, the last {@link MOST_TICKS} of all that came                      |
 *
 * @param turn waits for a later turn of the event loop: a thousand ticks take long
 * @returns undefined if none came
 */
export async function dueTicks(
  { ticks, missed }: Pick<ParsedSchedule, 'ticks' | 'missed'>,
  from: number,
  now: number,
  turn: () => Promise<void> | undefined,
): Promise<DueTicks | undefined> {
  const first = ticks.next(from);
  if (first > now) return undefined;
  const onTime: number[] = [];
  for (let tick = ticks.next(Math.max(from, now - LATE)); tick <= now; tick = ticks.next(tick)) onTime.push(tick);
  if (first > now - LATE) return { run: onTime, last: onTime.at(-1)! };
  const last = onTime.at(-1) ?? ticks.latest(from, now);
  if (missed === 'skip' || (missed === 'once' && onTime.length > 0)) return { run: onTime, last, missed: first };
  if (missed === 'once') return { run: [last], last, missed: first };
  return { run: await newest(ticks, from, now, turn), last, missed: first };
}

/** The last {@link MOST_TICKS} ticks. Lists a span before `until`, and one of twice the length if there are too few in it. */
async function newest(
  ticks: Ticks,
  from: number,
  until: number,
  turn: () => Promise<void> | undefined,
): Promise<number[]> {
  for (let span = SHORTEST_SPAN; ; span *= 2) {
    const begin = Math.max(from, until - span);
    const found: number[] = [];
    for (let tick = ticks.next(begin); tick <= until; tick = ticks.next(tick)) {
      found.push(tick);
      await turn();
    }
    if (found.length >= MOST_TICKS || begin === from) return found.slice(-MOST_TICKS);
  }
}

/** Outcome of a decision about ticks. */
export interface Decision {
  /** The next record. Its `pending` ticks are to be submitted. */
  readonly next: ScheduleRecord;
  /** Ticks that do not run, because the former run has not ended, or too many wait. */
  readonly skipped: readonly number[];
}

/** The node that decides, and the nonce of its write. */
interface Decider {
  readonly by: string;
  readonly nonce: string;
}

/**
 * Decides about ticks by the mode. Pure: the caller writes the record by comparison, so of two nodes that decide about a tick
 * only one counts.
 *
 * | mode                  | the former run has ended                   | it has not                    |
 * | --------------------- | ------------------------------------------ | ----------------------------- |
 * | `once-per-tick`       | all that are due run                       | all that are due run          |
 * | `at-most-one-running` | the last one runs, those before it do not  | none runs                     |
 * | `queue`               | the first one that waits runs              | all wait, at most 1,000       |
 *
 * @param record whose `pending` ticks are surely in the store
 * @param due undefined if no tick is due
 */
export function decide(
  record: ScheduleRecord,
  schedule: Pick<ParsedSchedule, 'mode' | 'expression' | 'timeZone'>,
  due: DueTicks | undefined,
  isFormerOver: boolean,
  { by, nonce }: Decider,
): Decision {
  const { mode, expression, timeZone } = schedule;
  const { submit, waiting, skipped } = divide(mode, [...record.waiting, ...(due?.run ?? [])], isFormerOver);
  const run = submit.at(-1) ?? record.run;
  const next = {
    ...record,
    nonce,
    by,
    ...(due && { expression, timeZone, mode, editedAt: undefined, last: due.last }),
    ...(run !== undefined && { run }),
    pending: submit,
    waiting,
    skipped: [...record.skipped, ...skipped.map((at): SkippedTick => ({ at, former: run! }))].slice(-MOST_SKIPPED),
  };
  return { next, skipped };
}

function divide(mode: ParsedSchedule['mode'], ticks: readonly number[], isFormerOver: boolean) {
  switch (mode) {
    case 'once-per-tick':
      return { submit: ticks, waiting: [], skipped: [] };
    case 'at-most-one-running': {
      const submit = isFormerOver ? ticks.slice(-1) : [];
      return { submit, waiting: [], skipped: ticks.slice(0, ticks.length - submit.length) };
    }
    default: {
      const [submit, rest] = isFormerOver ? [ticks.slice(0, 1), ticks.slice(1)] : [[], ticks];
      return { submit, waiting: rest.slice(0, MOST_TICKS), skipped: rest.slice(MOST_TICKS) };
    }
  }
}
