import { z } from 'zod';
import { CorruptRecordError, decodeStored, show, storedCount, storedTime } from '../../core/decision/index.js';
import { LARGEST_GROUP } from './task-id.js';
import { PRIORITIES, type Task, type TaskState, USUAL_LEASE, USUAL_LIMITS } from './task.js';
import { placeAt, placeOf, stateOfLetter } from './task-place.js';

const VERSION = 1;
/** Characters of a whole text: far more than the largest data and result that an option allows. */
const LONGEST_TEXT = 4 * 1024 * 1024;

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
const to = z.strictObject({
  group: z.string().optional(),
  acquirer: z.string().optional(),
  instance: z.string().optional(),
  orAnother: z.literal(true).optional(),
});

/** Only as long as a `traceparent`: telemetry reads it, and leaves out what it can't read. */
const trace = z.string().max(55);

const next = z.strictObject({
  by: z.string().min(1).max(100),
  priority: z.enum(PRIORITIES),
  limits,
  runAt: storedTime.optional(),
  data: z.unknown().optional(),
  to: to.optional(),
  fairKey: z.string().min(1).max(200).optional(),
  trace: trace.optional(),
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
  lease: storedTime.optional(),
  lastProgram: id.optional(),
  data: z.unknown().optional(),
  trace: trace.optional(),
  member: z.strictObject({ ...incarnation, number: storedCount.max(LARGEST_GROUP) }).optional(),
  join: z.strictObject(incarnation).optional(),
  split: storedCount.optional(),
  formerFamily: z.strictObject({ incarnation: storedCount, total: storedCount }).optional(),
  sub: z.strictObject({ parent: id, incarnation: storedCount, number: storedCount.positive() }).optional(),
  progress: z
    .strictObject({ done: z.number(), total: z.number(), note: z.string().max(200).optional(), at: storedTime })
    .optional(),
  after: z.array(z.strictObject({ id, life: z.string().min(1).max(100) })).optional(),
  afterFailed: z.literal('run').optional(),
  runAt: storedTime.optional(),
  queue: z.string().min(1).max(200).optional(),
  to: to.optional(),
  fairKey: z.string().min(1).max(200).optional(),
  dependents: z.array(id).optional(),
  error: fault.optional(),
  past: z
    .array(
      z.strictObject({ token: storedCount, endedAt: storedTime, instance: z.string(), error: z.string().optional() }),
    )
    .optional(),
  cancel: cancellationSchema.optional(),
  failGroupFast: z.literal(true).optional(),
  next: next.optional(),
  replacedBy: z.string().min(1).max(100).optional(),
  formerEnd: z.strictObject({ by: z.string().min(1).max(100), token: storedCount, outcome }).optional(),
  formerFailure: z.strictObject({ life: z.string().min(1).max(100), outcome }).optional(),
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

/** Fields of the body, but `v`. */
const FIELDS = Object.keys(bodySchema.shape).filter(
  (field): field is Exclude<keyof Task, 'state' | 'at' | 'dataText'> => field !== 'v',
);
/** Values that are left out. */
const USUAL: Partial<Task> = {
  priority: 'normal',
  token: 0,
  attempts: 0,
  crashes: 0,
  limits: USUAL_LIMITS,
  lease: USUAL_LEASE,
};
const BLANK = Object.fromEntries(['state', 'at', 'dataText', ...FIELDS].map((field) => [field, undefined]));

/**
 * A task that has all fields, in one order; those that it has not are undefined. Each change of a task is a copy, and V8
 * copies an object of a known shape in 0.06 µs, and one that gets new fields in 2 µs or more.
 */
export function taskOf<Some extends Partial<Task>>(some: Some, others: Omit<Task, keyof Some>): Task {
  return Object.assign({ ...BLANK }, some, others) as unknown as Task;
}

/** @throws CorruptRecordError, NewerRecordError */
export function decodeTask(text: string): Task {
  const { state, at, body } = splitText(text);
  const { v: _v, ...fields } = decodeStored(bodySchema, VERSION, 'a task', body);
  return taskOf(fields as Omit<Task, 'state' | 'at'>, { state, at });
}

/** The same for a task whose data a handler gets, and may change. @throws CorruptRecordError, NewerRecordError */
export function decodeForHandler(text: string): Task {
  const task = decodeTask(text);
  const { data } = task;
  return data === undefined ? task : { ...task, dataText: { of: data, text: JSON.stringify(data) } };
}

/** The data of a task as its handler got them, whatever it has made of them. */
export function dataOf({ data, dataText }: Pick<Task, 'data' | 'dataText'>): unknown {
  return dataText && dataText.of === data ? (JSON.parse(dataText.text) as unknown) : data;
}

/** The task; undefined if its text can't be read: a newer version, or another program, may have written it. */
export function readableTask(text: string): Task | undefined {
  try {
    return decodeTask(text);
  } catch {
    return undefined; // the caller says what it leaves out, or goes on behind it
  }
}

/**
 * Fields with their usual values are left out. The fields are written one by one, because a busy node writes tens of
 * thousands of tasks per second: to collect them in an object for JSON.stringify takes 6.8 µs, and this function 2.1 µs.
 */
export function encodeTask(task: Task): string {
  const { dataText } = task;
  let body = `{"v":${VERSION}`;
  for (const field of FIELDS) {
    const value = task[field];
    if (value === undefined || value === USUAL[field]) continue;
    const text = field === 'data' && value === dataText?.of ? dataText.text : JSON.stringify(value);
    body += `,"${field}":${text}`;
  }
  return `${placeOf(task)}${body}}`;
}

/** A text that is found by a time. */
export function dueText(letter: string, at: number, id: string, body: object): string {
  return placeAt(`${letter}|`, at, id) + JSON.stringify(body);
}

function splitText(text: string): { state: TaskState; at: number; body: string } {
  const begin = text.length > LONGEST_TEXT ? -1 : text.indexOf('{');
  const [letter = '', ...fields] = text.slice(0, Math.max(begin, 0)).split('|');
  const state = stateOfLetter(letter);
  const at = Number(fields.at(-3));
  if (state && Number.isSafeInteger(at)) return { state, at, body: text.slice(begin) };
  throw new CorruptRecordError(`a task can't be read: it begins ${show(text.slice(0, 100))}. Remove it from the store`);
}
