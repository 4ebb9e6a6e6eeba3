import { z } from 'zod';
import {
  type View,
  decodeStored,
  lacksWrites,
  show,
  storedText,
  storedTime,
  storedCount,
} from '../../decision/index.js';
import type { RecordCodec, StoredRecord } from '../../cell/record-codec.js';

/** The planned times of a schedule, as instants in ms since 1970. */
export interface PlannedTimes {
  /** The first one after an instant. */
  next(after: number): number;
  /** The last one up to an instant. There must be one after `from`. */
  latest(from: number, until: number): number;
}

/**
 * The last planned time of a job that counts as settled: a run began at it, or it was skipped while the cluster was up, or
 * a run made up for it.
 *
 *     { "v": 1, "nonce": "3w5e.1f", "seq": 3, "at": 1790000000000,
 *       "expression": "0 3 * * *", "timeZone": "Europe/Berlin", "last": 1789999200000 }
 */
export interface LastTick extends StoredRecord, Schedule {
  readonly v: typeof VERSION;
  /** Cluster time in ms. Planned times up to it are settled. */
  readonly last: number;
}

/** The schedule to which a {@link LastTick} belongs. */
export interface Schedule {
  readonly expression: string;
  readonly timeZone: string;
}

const VERSION = 1;

const lastTickSchema = z.strictObject({
  v: z.literal(VERSION),
  nonce: z.string().min(1),
  seq: storedCount,
  at: storedTime,
  expression: storedText,
  timeZone: storedText,
  last: storedTime,
});

/** The storage format, and the rule for lost data: the later time counts, so nothing is made up for twice. */
export const LAST_TICK: RecordCodec<LastTick> = {
  kind: 'the last planned time of job',
  keyPrefix: 'last-tick:',
  decode: (name, text) => decodeStored(lastTickSchema, VERSION, `the last planned time of job ${show(name)}`, text),
  encode: (record) => JSON.stringify(record),
  isBehind: lacksWrites,
  restore: (known, found, view, nonce) => {
    const last = Math.max(known.last, found?.last ?? 0);
    return nextTick({ ...known, seq: Math.max(known.seq, found?.seq ?? 0) }, known, last, view, nonce);
  },
  rewrite: (record, view, nonce) => nextTick(record, record, record.last, view, nonce),
  leases: () => [],
};

/** The record with another time. */
export function nextTick(
  record: LastTick | undefined,
  { expression, timeZone }: Schedule,
  last: number,
  view: View,
  nonce: string,
): LastTick {
  return { v: VERSION, nonce, seq: (record?.seq ?? 0) + 1, at: view.now, expression, timeZone, last };
}

/** Whether a record belongs to this schedule. After a change of the schedule, older planned times do not count. */
export function isOf(record: LastTick | undefined, { expression, timeZone }: Schedule): record is LastTick {
  return record?.expression === expression && record.timeZone === timeZone;
}

/** ms by which a planned time may be late: until then a node may be about to run it. */
export const LATE = 60_000;

/** A planned time for which no run began: the run is due now, or `again` ms later it may turn out to be. */
export type Due = { readonly tick: number } | { readonly again: number };

/**
 * The last planned time that was missed. Those before it are not made up for. Pure.
 *
 * @param last planned times up to it are settled
 * @param now cluster time in ms
 */
export function dueAfter(times: PlannedTimes, last: number, now: number): Due | undefined {
  if (times.next(last) > now) return undefined;
  const latest = times.latest(last, now);
  return latest > now - LATE ? { again: latest + LATE - now } : { tick: latest };
}

/**
 * The planned time to which a run that begins now belongs. The scheduler's clock may be ahead of cluster time: then the run
 * begins before its planned time, by at most a minute, or half of the time between two.
 *
 * @returns undefined if there was none since `last`
 */
export function tickOfRun(times: PlannedTimes, last: number, now: number): number | undefined {
  const next = times.next(now);
  const early = Math.min(LATE, (times.next(next) - next) / 2);
  if (next - now <= early) return next;
  return times.next(last) > now ? undefined : times.latest(last, now);
}
