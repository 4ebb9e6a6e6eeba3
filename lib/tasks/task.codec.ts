import { z } from 'zod';
import { CorruptRecordError, decodeStored, show, storedCount, storedTime } from '../decision/index.js';
import { LARGEST_GROUP } from './task-id.js';
import { PRIORITIES, type Priority, type Task, type TaskState, USUAL_LIMITS } from './task.js';

const VERSION = 1;
/** Characters of a whole text: far more than the largest data and result that an option allows. */
const LONGEST_TEXT = 4 * 1024 * 1024;

/**
 * Texts begin with the fields by which they are searched, so the texts' order finds what is due:
 *
 *     w|mail|1|0001790000000000|3f2a|{…}     waiting: by type, band, and time of the last hint
 *     l|0001790000000000|3f2a|{…}            delayed, by due time
 *     b|…  c|…  a|…  d|…  f|…                blocked, claimed, awaiting, done, finished, by the time in `at`
 *     x|…                                    finished without success: dead letters have a range of their own
 *     s|…                                    no task: the stop of a group, by the time at which it goes on
 *
 * The four hexadecimal digits are a hash of the id. They divide tasks of the same ms.
 */
const LETTERS: Record<TaskState, string> = {
  waiting: 'w',
  delayed: 'l',
  blocked: 'b',
  claimed: 'c',
  awaiting: 'a',
  done: 'd',
  finished: 'f',
};
/** Letter of finished tasks that did not complete. */
const DEAD = 'x';
const STATES = new Map(Object.entries(LETTERS).map(([state, letter]) => [letter, state as TaskState])).set(
  DEAD,
  'finished',
);
const DIGITS = 16;

const id = z.string().min(1).max(500);
const fault = z.strictObject({ name: z.string(), message: z.string(), stack: z.string().optional(), at: storedTime });
const incarnation = { group: id, incarnation: storedCount, isOver: z.literal(true).optional() };
const limits = z.strictObject({
  maxAttempts: storedCount.positive(),
  maxCrashes: storedCount.positive(),
  backoff: z.strictObject({ first: storedTime, longest: storedTime }),
  retention: storedTime,
  deadLetterRetention: storedTime,
});

/** zod type of a Cancellation. */
export const cancellationSchema = z.strictObject({
  at: storedTime,
  by: z.string(),
  reason: z.string().optional(),
  isOfGroup: z.literal(true).optional(),
});

const outcome = z.enum(['completed', 'failed', 'crashed', 'invalid', 'cancelled']);

const next = z.strictObject({
  by: z.string().min(1).max(100),
  priority: z.enum(PRIORITIES),
  limits,
  runAt: storedTime.optional(),
  data: z.unknown().optional(),
});

const bodySchema = z.strictObject({
  v: z.literal(VERSION),
  id,
  type: z.string().min(1).max(100),
  priority: z.enum(PRIORITIES).default('normal'),
  nonce: z.string().min(1).max(100),
  born: z.string().min(1).max(100).optional(),
  token: storedCount.default(0),
  submittedAt: storedTime,
  attempts: storedCount.default(0),
  crashes: storedCount.default(0),
  limits: limits.default(USUAL_LIMITS),
  isPutOff: z.literal(true).optional(),
  owner: id.optional(),
  data: z.unknown().optional(),
  member: z.strictObject({ ...incarnation, number: storedCount.positive().max(LARGEST_GROUP) }).optional(),
  join: z.strictObject(incarnation).optional(),
  split: storedCount.optional(),
  sub: z.strictObject({ parent: id, incarnation: storedCount, number: storedCount.positive() }).optional(),
  progress: z
    .strictObject({ done: z.number(), total: z.number(), note: z.string().max(200).optional(), at: storedTime })
    .optional(),
  after: z.array(z.strictObject({ id, life: z.string().min(1).max(100) })).optional(),
  afterFailed: z.literal('run').optional(),
  runAt: storedTime.optional(),
  queue: z.string().min(1).max(200).optional(),
  dependents: z.array(id).optional(),
  error: fault.optional(),
  cancel: cancellationSchema.optional(),
  failGroupFast: z.literal(true).optional(),
  next: next.optional(),
  replacedBy: z.string().min(1).max(100).optional(),
  formerEnd: z.strictObject({ by: z.string().min(1).max(100), token: storedCount, outcome }).optional(),
  ending: z
    .strictObject({
      outcome,
      at: storedTime,
      by: z.string(),
      result: z.unknown().optional(),
      subTasks: z.strictObject({ total: storedCount, failed: storedCount }).optional(),
    })
    .optional(),
});

/** @throws CorruptRecordError, NewerRecordError */
export function decodeTask(text: string): Task {
  const { state, at, body } = splitText(text);
  const { v: _v, ...task } = decodeStored(bodySchema, VERSION, 'a task', body);
  return { ...task, state, at } as Task;
}

/** Fields with their usual values are left out. */
export function encodeTask({ state, at, ...task }: Task): string {
  const { id, type, priority, nonce, token, submittedAt, attempts, crashes, limits, ...others } = task;
  const body = {
    v: VERSION,
    id,
    type,
    ...(priority !== 'normal' && { priority }),
    nonce,
    ...(token > 0 && { token }),
    submittedAt,
    ...(attempts > 0 && { attempts }),
    ...(crashes > 0 && { crashes }),
    ...(limits !== USUAL_LIMITS && { limits }),
    ...others,
  };
  const isDeadLetter = state === 'finished' && task.ending?.outcome !== 'completed';
  if (state !== 'waiting') return dueText(isDeadLetter ? DEAD : LETTERS[state], at, id, body);
  return textOf(waitingPlace(type, priority), at, id, body);
}

/** A text that is found by a time. */
export function dueText(letter: string, at: number, id: string, body: object): string {
  return textOf(`${letter}|`, at, id, body);
}

function textOf(place: string, at: number, id: string, body: object): string {
  return `${place}${digits(at)}|${hashOf(id)}|${JSON.stringify(body)}`;
}

/** The range of the texts of a state (not `waiting`) whose `at` is before a time; for `finished`, of those that completed. */
export function rangeOf(state: Exclude<TaskState, 'waiting'>, before: number): [from: string, to: string] {
  return dueRange(LETTERS[state], before);
}

/** The range of the dead letters whose `at` is before a time. */
export function deadRange(before: number): [from: string, to: string] {
  return dueRange(DEAD, before);
}

/** The range of the texts with this letter whose time is before another. */
export function dueRange(letter: string, before: number): [from: string, to: string] {
  return [`${letter}|`, `${letter}|${digits(before)}`];
}

/** The range of the waiting tasks of a type and priority that were hinted before a time. */
export function waitingRange(type: string, priority: Priority, before: number): [from: string, to: string] {
  const place = waitingPlace(type, priority);
  return [place, `${place}${digits(before)}`];
}

function waitingPlace(type: string, priority: Priority): string {
  return `${LETTERS.waiting}|${type}|${PRIORITIES.indexOf(priority)}|`;
}

/** Type, priority and time of the text of a waiting task, by its place alone: a newer version may have written the rest. */
export function placeOfText(
  text: string,
): { readonly type: string; readonly priority: Priority; readonly at: number } | undefined {
  const [letter, type, band, at] = text.slice(0, 200).split('|');
  const priority = PRIORITIES[Number(band)];
  if (letter !== LETTERS.waiting || !type || !priority || !/^\d+$/.test(at ?? '')) return undefined;
  return { type, priority, at: Number(at) };
}

function splitText(text: string): { state: TaskState; at: number; body: string } {
  const begin = text.length > LONGEST_TEXT ? -1 : text.indexOf('{');
  const [letter = '', ...fields] = text.slice(0, Math.max(begin, 0)).split('|');
  const state = STATES.get(letter);
  const at = Number(fields.at(-3));
  if (state && Number.isSafeInteger(at)) return { state, at, body: text.slice(begin) };
  throw new CorruptRecordError(`a task can't be read: it begins ${show(text.slice(0, 100))}. Remove it from the store`);
}

function digits(time: number): string {
  return String(Math.max(0, Math.floor(time))).padStart(DIGITS, '0');
}

/** FNV-1a, 16 bits of it. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return ((hash >>> 16) & 0xffff).toString(16).padStart(4, '0');
}
