import { z } from 'zod';
import { decodeStored, storedCount, storedTime } from '../../core/decision/index.js';
import type { Incarnation } from './task.js';
import { groupId } from './task-id.js';
import { cancellationSchema, dueText } from './task.codec.js';
import { dueRange, laterRange } from './task-place.js';
import type { Stamp } from './transitions.js';
import type { Cancellation } from './task-parts.js';

const VERSION = 1;
/** Letter of the texts; the states of tasks have others. */
const LETTER = 's';
/** ms before the sweep goes on with a stop whose node has just noted it. */
const UNSWEPT = 2000;
/** ms between two walks over the members of a group that is not complete. The pause doubles from the first to the longest. */
const FIRST_PAUSE = 5000;
const LONGEST_PAUSE = 600_000;
/** The same while the total is not known: more members come, and one may have read the root before the stop. */
const LONGEST_WITHOUT_TOTAL = 60_000;

/**
 * The wish to end all members of one incarnation of a group that have not ended. It stays until they have. It stands among
 * the texts of tasks, so that the sweep finds it by its time, and goes on with it after a crash.
 */
export interface GroupStop extends Incarnation {
  /** Type of the members. */
  readonly type: string;
  /** When the sweep goes on with it: cluster time in ms. */
  readonly at: number;
  readonly nonce: string;
  /** Number of the member with which it goes on. */
  readonly next: number;
  /** ms before the next walk over the members. */
  readonly pause: number;
  /** Author and reason. */
  readonly cancel: Cancellation;
}

const stopSchema = z.strictObject({
  v: z.literal(VERSION),
  type: z.string().min(1).max(100),
  group: z.string().min(1).max(500),
  incarnation: storedCount,
  at: storedTime,
  nonce: z.string().min(1).max(100),
  next: storedCount.positive(),
  pause: storedTime,
  cancel: cancellationSchema,
});

export function newStop(type: string, of: Incarnation, author: Omit<Cancellation, 'at'>, stamp: Stamp): GroupStop {
  const { now, nonce } = stamp;
  const cancel = { at: now, ...author, isOfGroup: true } as const;
  const { group, incarnation } = of;
  return { type, group, incarnation, at: now + UNSWEPT, nonce, next: 1, pause: FIRST_PAUSE, cancel };
}

/** The sweep goes on at once with the member of this number. */
export function goOn(stop: GroupStop, next: number, { now, nonce }: Stamp): GroupStop {
  return { ...stop, next, at: now, nonce };
}

/** All members that are known were looked at. Others may come. */
export function rest(stop: GroupStop, hasTotal: boolean, { now, nonce }: Stamp): GroupStop {
  const pause = Math.min(2 * stop.pause, hasTotal ? LONGEST_PAUSE : LONGEST_WITHOUT_TOTAL);
  return { ...stop, next: 1, at: now + stop.pause, pause, nonce };
}

/** No id of a task begins with this character. */
export function stopKey({ type, group }: Pick<GroupStop, 'type' | 'group'>): string {
  return `#${groupId(type, group)}`;
}

export function encodeStop(stop: GroupStop): string {
  return dueText(LETTER, stop.at, stopKey(stop), { v: VERSION, ...stop });
}

/** @throws CorruptRecordError, NewerRecordError */
export function decodeStop(text: string): GroupStop {
  const { v: _v, ...stop } = decodeStored(stopSchema, VERSION, 'a stop of a group of tasks', bodyOf(text));
  return stop as GroupStop;
}

/** The range of the stops that the sweep goes on with. */
export function dueStops(now: number): [from: string, to: string] {
  return dueRange(LETTER, now);
}

/** The range of the other stops. */
export function laterStops(now: number): [from: string, to: string] {
  return laterRange(LETTER, now);
}

function bodyOf(text: string): string {
  return text.slice(Math.max(0, text.indexOf('{')));
}
