import type { DueTicks } from './due-ticks.js';
import type { ParsedSchedule } from './schedule-options.js';
import { MOST_SKIPPED, MOST_TICKS, type ScheduleRecord, type SkippedTick } from './schedule-record.js';

/** Outcome of a decision about ticks. */
export interface Decision {
  /** The next record. Its `pending` ticks are to be submitted. */
  readonly next: ScheduleRecord;
  /** Ticks that do not run, because the former run has not ended, or too many wait. */
  readonly skipped: readonly number[];
}

/** The node that decides, and the nonce of its write. */
export interface Decider {
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
