import type { RunEntry } from '../history-answers.js';
import { type Durations, addedDurations, classOf } from './durations.js';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** The runs of one job that began in one hour, or on one day (UTC). */
export interface RunPeriod {
  /** Start of the period: cluster time, ms since the epoch. */
  readonly at: number;
  /** Number of runs by their outcome. */
  readonly ok: number;
  readonly failed: number;
  readonly lost: number;
  readonly crashed: number;
  /** Durations of the runs that ended well. */
  readonly took: Durations;
}

/** Periods of one length that are kept. */
export interface PeriodKind {
  /** ms */
  readonly length: number;
  /** Number of periods before the present one. */
  readonly kept: number;
}

/** With the present hour, they cover the last 24 hours. */
export const HOURS: PeriodKind = { length: HOUR, kept: 24 };
export const DAYS: PeriodKind = { length: DAY, kept: 34 };

const NONE = { ok: 0, failed: 0, lost: 0, crashed: 0, took: [] };

/** The period of one run. */
export function periodOf({ at, outcome, took }: RunEntry, { length }: PeriodKind): RunPeriod {
  const durations: Durations = outcome === 'ok' && took !== undefined ? [[classOf(took), 1]] : [];
  return { ...NONE, at: at - (at % length), [outcome]: 1, took: durations };
}

/** A period without the crash of a run that did not crash. */
export function withoutCrash(run: RunEntry, { length }: PeriodKind): RunPeriod {
  return { ...NONE, at: run.at - (run.at % length), crashed: -1 };
}

/** Adds periods of one kind. Drops those that are too old. @param now cluster time in ms */
export function addedPeriods(periods: readonly RunPeriod[], { length, kept }: PeriodKind, now: number): RunPeriod[] {
  const byStart = new Map<number, RunPeriod>();
  for (const period of periods) {
    if (period.at < now - (now % length) - kept * length) continue;
    const known = byStart.get(period.at);
    byStart.set(period.at, known ? sumOf(known, period) : period);
  }
  return [...byStart.values()].toSorted((one, other) => one.at - other.at);
}

function sumOf(one: RunPeriod, other: RunPeriod): RunPeriod {
  return {
    at: one.at,
    ok: one.ok + other.ok,
    failed: one.failed + other.failed,
    lost: one.lost + other.lost,
    crashed: Math.max(0, one.crashed + other.crashed),
    took: addedDurations(one.took, other.took),
  };
}
