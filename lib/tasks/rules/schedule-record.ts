import { z } from 'zod';
import {
  CorruptRecordError,
  decodeStored,
  show,
  storedList,
  storedTime,
  ReservedNameError,
} from '../../core/decision/index.js';
import type { SkippedTick } from './task-parts.js';

/**
 * The record of a schedule: the last planned time, so that no tick is submitted twice. It belongs to no node: code has the
 * timers, and the record only remembers.
 *
 * A tick is first noted in `pending`, by comparison, and then submitted. `pending` is emptied before its task can end: by
 * the node that submitted it, by another one, or by the node that runs it. So a tick that is still pending was never
 * forgotten with its task, and each node may submit it again.
 *
 * All times are cluster time in ms.
 */
export interface ScheduleRecord {
  readonly name: string;
  /** New with every write, so no text ever comes back. */
  readonly nonce: string;
  /** Expression and time zone of the node that wrote it last. */
  readonly expression: string;
  readonly timeZone: string;
  /** Mode of the same node. */
  readonly mode: string;
  /** When the schedule was seen first. No tick before that counts. */
  readonly since: number;
  /** When a node first started with this expression, if no tick of it was decided yet. Earlier ticks of it don't count. */
  readonly editedAt?: number | undefined;
  /** The last tick that was decided; absent before the first. Only grows. */
  readonly last?: number;
  /** The last tick that was submitted; absent before the first. */
  readonly run?: number;
  /** Ticks that were decided, and whose tasks may not be in the store yet. */
  readonly pending: readonly number[];
  /** Mode `queue`: ticks that wait for the end of the former run. */
  readonly waiting: readonly number[];
  /** The last ticks that were skipped because the former run had not ended. */
  readonly skipped: readonly SkippedTick[];
  /** Instance of the node that submitted last. It is the first to act at the next tick. */
  readonly by: string;
}

/**
 * ms after a tick about which no node decides: then the record may be removed. So a record that is made anew counts no older
 * ticks: they may have been submitted before the removal.
 */
export const KEPT = 7 * 86_400_000;
/** Ticks that may be missed, wait, or be pending. */
export const MOST_TICKS = 1000;
/** Skipped ticks that are remembered. */
export const MOST_SKIPPED = 10;

const VERSION = 1;
const LETTER = 'p|';

/** Characters. */
export const LONGEST_EXPRESSION = 1000;

const text = z.string().max(LONGEST_EXPRESSION);
const ticks = storedList(storedTime, 2 * MOST_TICKS);
const recordSchema = z.strictObject({
  v: z.literal(VERSION),
  name: z.string().min(1).max(100),
  nonce: z.string().min(1).max(100),
  expression: text,
  timeZone: text,
  mode: text,
  since: storedTime,
  editedAt: storedTime.optional(),
  last: storedTime.optional(),
  run: storedTime.optional(),
  pending: ticks.prefault([]),
  waiting: ticks.prefault([]),
  skipped: storedList(z.strictObject({ at: storedTime, former: storedTime }), MOST_SKIPPED).prefault([]),
  by: text,
});

/** ms by which a node may know more of the cluster's time than another. */
const AHEAD = 60_000;

/** The time up to which all ticks are decided, or don't count. */
export function decidedUntil({ since, last = since, editedAt = since }: ScheduleRecord): number {
  return Math.max(last, editedAt);
}

/**
 * The time up to which no tick runs, because the store's clock was ahead when it was written, and was set back. The wait has no
 * shorter way: a tick that comes again was submitted before, and may be forgotten.
 *
 * @param from ticks after that time count
 * @param now cluster time in ms
 * @returns undefined if it has come
 */
export function silentUntil(from: number, now: number): number | undefined {
  return from > now + AHEAD ? from : undefined;
}

/** Prefix of the types of schedules' tasks. */
export const SCHEDULE_TYPE = 'cron.';

/** Id of the task of a tick: "cron.nightly:2026-11-23T03:00:00Z". */
export function tickId(name: string, tick: number): string {
  return `${SCHEDULE_TYPE}${name}:${iso(tick)}`;
}

/** Planned times have whole seconds. */
export function iso(time: number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z');
}

/** Whether an id is one that {@link tickId} makes. A task of such an id would stand for the tick, or in its place. */
export function isTickId(id: string): boolean {
  if (!id.startsWith(SCHEDULE_TYPE)) return false;
  const text = id.slice(id.indexOf(':') + 1);
  const time = Date.parse(text);
  return !Number.isNaN(time) && iso(time) === text;
}

/**
 * Checks types that come from outside of the application's code: over HTTP, or with the command line. The tasks of a schedule
 * are made by the nodes that have it, and no program may submit, claim or end one.
 *
 * @throws ReservedNameError
 */
export function expectNoSchedule(...types: readonly string[]): void {
  const reserved = types.find((type) => type.startsWith(SCHEDULE_TYPE));
  if (reserved === undefined) return;
  const why = `${show(reserved)}: the prefix "${SCHEDULE_TYPE}" is reserved for schedules, take another type`;
  throw new ReservedNameError('a type of tasks', [why]);
}

/** Key of a record. No task has it, because ids of tasks have a colon or a bracket. */
export function scheduleKey(name: string): string {
  return `@${name}`;
}

/** Name of the schedule whose record has this key. */
export function nameOfKey(key: string): string {
  return key.slice(1);
}

/** Stands for a record that this node can't read: of a newer version, or corrupt. */
export const UNREADABLE_SCHEDULE = 'unreadable';

/** The records are together in the order of texts, and among no tasks. */
export const SCHEDULES: readonly [from: string, to: string] = [LETTER, 'p}'];

/** @throws CorruptRecordError, NewerRecordError */
export function decodeSchedule(record: string): ScheduleRecord {
  if (!record.startsWith(LETTER)) {
    throw new CorruptRecordError(
      `a schedule can't be read: it begins ${show(record.slice(0, 100))}. Remove it from the store`,
    );
  }
  const body = record.slice(record.indexOf('{'));
  const { v: _v, ...schedule } = decodeStored(recordSchema, VERSION, 'a schedule', body);
  return schedule as ScheduleRecord;
}

/** @returns undefined for a text of a newer version, or of another program */
export function readableSchedule(record: string): ScheduleRecord | undefined {
  try {
    return decodeSchedule(record);
  } catch {
    return undefined; // the node that has the schedule reports it
  }
}

/** Empty lists are left out. */
export function encodeSchedule({ pending, waiting, skipped, ...record }: ScheduleRecord): string {
  const lists = Object.entries({ pending, waiting, skipped }).filter(([, list]) => list.length > 0);
  return `${LETTER}${record.name}|${JSON.stringify({ v: VERSION, ...record, ...Object.fromEntries(lists) })}`;
}
