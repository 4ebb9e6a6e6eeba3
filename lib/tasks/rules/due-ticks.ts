import type { ParsedSchedule } from './schedule-options.js';
import { MOST_TICKS } from './schedule-record.js';
import type { Ticks } from '../../core/cron/ticks.js';

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
