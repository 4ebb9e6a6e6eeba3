import { createHash } from 'node:crypto';
import { PRIORITIES, type Priority, type Task, type TaskState } from './task.js';

/**
 * Texts of tasks begin with the fields by which they are searched, so the texts' order finds what is due:
 *
 *     w|mail|1|0001790000000000|3f2a|{…}      waiting: by type, band, and time of the last hint
 *     u|mail|1|key|0001790000000000|3f2a|{…}  the same with a fair key: by type, band, and hash of the key
 *     t|target|mail|1|0001790000000000|3f2a|{…}  the same, addressed: by hash of its target, type and band
 *     t|!target|…                             the same, if it moves when the process of its target is gone
 *     l|0001790000000000|3f2a|{…}             delayed, by due time
 *     b|…  c|…  a|…  d|…  f|…                 blocked, claimed, awaiting, done, finished, by the time in `at`
 *     x|…                                     finished without success: dead letters have a range of their own
 *     s|…                                     no task: the stop of a group, by the time at which it goes on
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
const [FAIR, ADDRESSED] = ['u', 't'] as const;
/** First character of the keys of targets whose tasks may move to another node; before those of hashes. */
const MOVABLE = '!';
/** Letter of finished tasks that did not complete. */
const DEAD = 'x';
const STATES = new Map<string, TaskState>([
  ...Object.entries(LETTERS).map(([state, letter]): [string, TaskState] => [letter, state as TaskState]),
  [FAIR, 'waiting'],
  [ADDRESSED, 'waiting'],
  [DEAD, 'finished'],
]);
const DIGITS = 16;
/** Characters of a hash in a place: 96 bits. */
const HASH = 16;
/** Characters in which a place stands. */
const LONGEST_PLACE = 200;

/** Texts with `from <= text < to`. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** The range of the texts of all addressed tasks that wait. */
export const ALL_ADDRESSED = rangeBehind(ADDRESSED);
/** The range of the texts of those that move to another node when the process of their target is gone. */
export const ALL_MOVABLE: Range = { from: `${ADDRESSED}|${MOVABLE}`, to: `${ADDRESSED}|"` };
/** The range of the texts of all waiting tasks. */
export const ALL_WAITING: Range = { from: ALL_ADDRESSED.from, to: rangeBehind(LETTERS.waiting).to };
/** The range of the texts of all waiting tasks with fair keys. */
export const ALL_FAIR = rangeBehind(FAIR);
/** The range of the texts of all waiting tasks that have neither a fair key nor a target. */
export const ALL_OPEN = rangeBehind(LETTERS.waiting);
/** The range of the texts of all dead letters. */
export const ALL_DEAD = rangeBehind(DEAD);

/** The range of the texts of all tasks of a state; for `finished`, of those that completed. */
export function allOf(state: Exclude<TaskState, 'waiting'>): Range {
  return rangeBehind(LETTERS[state]);
}

/** Ranges of the texts of waiting tasks in which those of a type stand. Addressed ones stand among those of other types. */
export function waitingOf(type: string): Range[] {
  return [rangeBehind(`${LETTERS.waiting}|${type}`), rangeBehind(`${FAIR}|${type}`), ALL_ADDRESSED];
}

/** The range of the texts whose first fields these are. */
function rangeBehind(fields: string): Range {
  return { from: `${fields}|`, to: `${fields}}` };
}

/** Place of a waiting task, as its text shows it. */
export interface WaitingPlace {
  readonly kind: 'open' | 'fair' | 'addressed';
  readonly type: string;
  readonly priority: Priority;
  /** When a hint was offered last. */
  readonly at: number;
  /** Hash of the fair key, or of the target; empty for others. */
  readonly key: string;
}

/** State of the tasks whose texts begin with this letter. */
export function stateOfLetter(letter: string): TaskState | undefined {
  return STATES.get(letter);
}

type Placed = Pick<Task, 'state' | 'at' | 'id' | 'type' | 'priority' | 'to' | 'fairKey' | 'ending'>;

/** The begin of a task's text. */
export function placeOf(task: Placed): string {
  const { state, at, id, to, fairKey, ending } = task;
  const isDeadLetter = state === 'finished' && ending?.outcome !== 'completed';
  if (state !== 'waiting') return placeAt(`${isDeadLetter ? DEAD : LETTERS[state]}|`, at, id);
  if (to) return placeAt(addressedPrefix({ ...task, key: keyOf(to) }), at, id);
  return placeAt(fairKey === undefined ? openPrefix(task) : `${fairPrefix(task)}${hashText(fairKey)}|`, at, id);
}

/** The begin of a text that is found by its letter and a time. */
export function placeAt(prefix: string, at: number, id: string): string {
  return `${prefix}${digits(at)}|${hashOf(id)}|`;
}

/** The range of the texts of a state (not `waiting`) whose `at` is before a time; for `finished`, of those that completed. */
export function rangeOf(state: Exclude<TaskState, 'waiting'>, before: number): [from: string, to: string] {
  return dueRange(LETTERS[state], before);
}

/** The range of the texts of a state (not `waiting`) whose `at` is a time, or after it. */
export function rangeFrom(state: Exclude<TaskState, 'waiting'>, from: number): [from: string, to: string] {
  return laterRange(LETTERS[state], from);
}

/** The range of the dead letters whose `at` is before a time. */
export function deadRange(before: number): [from: string, to: string] {
  return dueRange(DEAD, before);
}

/** The range of the texts with this letter whose time is before another. */
export function dueRange(letter: string, before: number): [from: string, to: string] {
  return [`${letter}|`, `${letter}|${digits(before)}`];
}

/** The range of the texts with this letter whose time is another, or after it. */
export function laterRange(letter: string, from: number): [from: string, to: string] {
  return [`${letter}|${digits(from)}`, rangeBehind(letter).to];
}

/** The range of the waiting tasks of a type and priority that were hinted before a time. */
export function waitingRange(type: string, priority: Priority, before: number): [from: string, to: string] {
  const prefix = openPrefix({ type, priority });
  return [prefix, `${prefix}${digits(before)}`];
}

/** Begin of the texts of waiting tasks of a type and priority that have neither a fair key nor a target. */
function openPrefix({ type, priority }: Pick<WaitingPlace, 'type' | 'priority'>): string {
  return `${LETTERS.waiting}|${type}|${PRIORITIES.indexOf(priority)}|`;
}

/** Begin of the texts of waiting tasks of a type and priority that have fair keys. */
export function fairPrefix({ type, priority }: Pick<WaitingPlace, 'type' | 'priority'>): string {
  return `${FAIR}|${type}|${PRIORITIES.indexOf(priority)}|`;
}

/** Begin of the texts of waiting tasks of a target, type and priority. */
export function addressedPrefix({ key, type, priority }: Pick<WaitingPlace, 'key' | 'type' | 'priority'>): string {
  return `${ADDRESSED}|${key}|${type}|${PRIORITIES.indexOf(priority)}|`;
}

/** Begin of the texts of all waiting tasks of a target. */
function targetPrefix({ key }: Pick<WaitingPlace, 'key'>): string {
  return `${ADDRESSED}|${key}|`;
}

/** Where the texts of the next target begin, or later. */
export function behindTarget({ key }: Pick<WaitingPlace, 'key'>): string {
  return `${targetPrefix({ key })}~`;
}

/** Where the texts of the next type begin, or later; of addressed tasks that of the same target. */
export function behindType({ kind, key, type }: Pick<WaitingPlace, 'kind' | 'key' | 'type'>): string {
  if (kind === 'addressed') return `${ADDRESSED}|${key}|${type}|~`;
  return `${kind === 'fair' ? FAIR : LETTERS.waiting}|${type}|~`;
}

/** When a task that has ended may be removed; undefined for any other text. */
export function finishedAt(text: string): number | undefined {
  const [letter, at] = text.slice(0, 2 + DIGITS).split('|');
  return letter === LETTERS.finished || letter === DEAD ? Number(at) : undefined;
}

/** The time by which a text is found that begins with a letter and a time. */
export function timeOfText(text: string): number {
  return Number(text.slice(2, 2 + DIGITS));
}

/** When a delayed task is due; undefined for any other text. */
export function dueTimeOf(text: string): number | undefined {
  return text.startsWith(`${LETTERS.delayed}|`) ? timeOfText(text) : undefined;
}

const KINDS = new Map<string | undefined, WaitingPlace['kind']>([
  [LETTERS.waiting, 'open'],
  [FAIR, 'fair'],
  [ADDRESSED, 'addressed'],
]);

/** Kind of the text of a waiting task, by its first letter; undefined for any other text. */
export function kindOfText(text: string): WaitingPlace['kind'] | undefined {
  return KINDS.get(text[0]);
}

/** Place of the text of a waiting task, by its begin alone: a newer version may have written the rest. */
export function placeOfText(text: string): WaitingPlace | undefined {
  const [letter, ...fields] = text.slice(0, LONGEST_PLACE).split('|');
  switch (letter) {
    case LETTERS.waiting:
      return waitingPlace('open', ['', ...fields]);
    case FAIR:
      return waitingPlace('fair', [fields[2], fields[0], fields[1], fields[3]]);
    case ADDRESSED:
      return waitingPlace('addressed', fields);
    default:
      return undefined;
  }
}

/** Whether the hint of a text is one of a later text of the same task, too. An addressed task has none. */
export function leadsTo(former: string, text: string): boolean {
  const [one, other] = [placeOfText(former), placeOfText(text)];
  return one !== undefined && other !== undefined && isSameQueue(one, other);
}

/** Whether the hints of two waiting tasks are in one queue. An addressed task has none. */
export function isSameQueue(one: WaitingPlace, other: WaitingPlace): boolean {
  if (one.kind === 'addressed') return false;
  return one.kind === other.kind && one.type === other.type && one.priority === other.priority;
}

/** The hint of a task that waits, by its text; undefined if it is addressed. */
export function hintOf(text: string): string | undefined {
  const kind = kindOfText(text);
  if (kind === 'addressed') return undefined;
  return kind === 'fair' ? ticketOf(text) : text;
}

/** The place of a text of a task with a fair key. */
export function ticketOf(text: string): string {
  return text.split('{', 1)[0]!;
}

function waitingPlace(
  kind: WaitingPlace['kind'],
  [key, type, band, at]: readonly (string | undefined)[],
): WaitingPlace | undefined {
  const priority = PRIORITIES[Number(band)];
  if (key === undefined || !type || !priority || !/^\d+$/.test(at ?? '')) return undefined;
  return { kind, type, priority, at: Number(at), key };
}

function keyOf(to: NonNullable<Task['to']>): string {
  return `${to.orAnother ? MOVABLE : ''}${hashText(JSON.stringify(to))}`;
}

function digits(time: number): string {
  return String(Math.max(0, Math.floor(time))).padStart(DIGITS, '0');
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, HASH);
}

/** FNV-1a, 16 bits of it. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return ((hash >>> 16) & 0xffff).toString(16).padStart(4, '0');
}
