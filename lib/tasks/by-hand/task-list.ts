import { InvalidOptionsError, show } from '../../core/decision/index.js';
import { PRIORITIES, type Task } from '../rules/task.js';
import { readableTask } from '../rules/task.codec.js';
import { ALL_DEAD, ALL_WAITING, type Range, allOf, behindType, placeOfText } from '../rules/task-place.js';
import { groupType } from '../rules/task-id.js';
import { FIRST_BATCH, behindText, batchAfter } from '../../core/store/text-batches.js';
import type { TaskStore } from '../records/task-store.js';
import { viewOf, withoutSecrets } from './task-view.js';
import type { TaskView, WaitingType } from '../rules/views.js';

export const LISTED_STATES = ['waiting', 'delayed', 'blocked', 'running', 'awaiting', 'dead'] as const;
/** State of the tasks in a list. `dead`: ended without success. */
export type ListedState = (typeof LISTED_STATES)[number];

/** Rows and characters of one page, at most: a store reads whole tasks, with their data. */
const MOST = { rows: 500, characters: 2 * 1024 * 1024 };
/** Types in one list, and reads for them: a type may wait under many targets. */
const MOST_TYPES = 100;
const MOST_READS = 500;

const RANGES: Record<ListedState, Range> = {
  waiting: ALL_WAITING,
  delayed: allOf('delayed'),
  blocked: allOf('blocked'),
  running: allOf('claimed'),
  awaiting: allOf('awaiting'),
  dead: ALL_DEAD,
};

/** Which tasks a list shows. */
export interface TaskQuery {
  /** Their state. */
  readonly state: ListedState;
  /** Only tasks for which it is true. */
  readonly isWanted: (type: string) => boolean;
  /** The most tasks of a page. */
  readonly limit: number;
  /** `next` of the page before. */
  readonly from?: string | undefined;
}

/** Some tasks of a state, without their data and results. */
export interface TaskPage {
  /** In the order of the store. */
  readonly tasks: TaskView[];
  /** Where the next page begins; absent: there is none. A page may be empty although more follow. */
  readonly next?: string;
  /**
   * Number of texts in the part that this page has read that can't be read: of a newer version, or of another program. They
   * are not among the tasks.
   */
  readonly leftOut: number;
}

/**
 * Lists tasks by their order in the store: those that wait by type and priority, all others by time. A page reads at most
 * 500 tasks and about 2 MB, whatever it finds.
 *
 * @throws InvalidOptionsError if `from` is no place in this list, or errors of a store that can't be asked
 */
export async function listTasks(store: TaskStore, { state, isWanted, limit, from }: TaskQuery): Promise<TaskPage> {
  const { from: first, to: end } = RANGES[state];
  let begin = from === undefined ? first : placeIn(from, first, end);
  const tasks: TaskView[] = [];
  let [next, leftOut] = ['', 0];
  for (let rows = 0, characters = 0, size = FIRST_BATCH; ;) {
    const found = await store.paced.range(begin, end, size, size);
    for (const { text } of found) {
      await store.slices.turn();
      begin = behindText(text);
      rows++;
      characters += text.length;
      const task = readableTask(text);
      if (!task) leftOut++;
      const seen = task && isWanted(groupType(task.type)) ? task : undefined;
      if (seen) tasks.push(withoutSecrets(viewOf(seen)));
      next = cursorAfter(text, seen);
      if (tasks.length >= limit) return { tasks, next, leftOut };
    }
    if (found.length < size) return { tasks, leftOut };
    if (rows >= MOST.rows || characters >= MOST.characters) return { tasks, next, leftOut };
    size = Math.min(MOST.rows - rows, batchAfter(found.map(({ text }) => text)));
  }
}

/** The types of which tasks wait, as far as they were read. */
export interface WaitingTypes {
  /** Sorted by name. */
  readonly types: WaitingType[];
  /** Whether more types may wait. */
  readonly isCut: boolean;
}

/**
 * The types of which tasks or groups wait, at most 100: two small reads for each type and priority.
 *
 * @param isWanted whether a type is wanted; the others take no place of the list
 */
export async function waitingTypes(
  store: TaskStore,
  isWanted: (type: string) => boolean = () => true,
): Promise<WaitingTypes> {
  const types = new Map<string, WaitingType>();
  // Addressed tasks of a type stand at many places, and its queues are counted once.
  const counted = new Set<string>();
  let { from } = ALL_WAITING;
  const sorted = () => [...types.values()].toSorted((one, other) => (one.type < other.type ? -1 : 1));
  for (let reads = 0; reads < MOST_READS; reads++) {
    const [found] = await store.paced.range(from, ALL_WAITING.to, 1);
    if (!found) return { types: sorted(), isCut: false };
    const place = placeOfText(found.text);
    from = place ? behindType(place) : behindText(found.text);
    if (!place || !isWanted(groupType(place.type))) continue;
    if (types.size >= MOST_TYPES && !types.has(groupType(place.type))) break;
    add(types, place, counted.has(place.type) ? 0 : await lengthOf(store, place.type));
    counted.add(place.type);
  }
  return { types: sorted(), isCut: true };
}

/** The tasks of a type and its groups count together. */
function add(types: Map<string, WaitingType>, place: { readonly type: string; readonly at: number }, length: number) {
  const type = groupType(place.type);
  const { offeredAt = place.at, waiting = 0 } = types.get(type) ?? {};
  // There is at least the one that was found, although its hint may be lost.
  types.set(type, { type, offeredAt: Math.min(offeredAt, place.at), waiting: waiting + Math.max(1, length) });
}

async function lengthOf({ hints }: TaskStore, type: string): Promise<number> {
  const lengths = await Promise.all(PRIORITIES.map((priority) => hints.queue(type, priority).size()));
  return lengths.reduce((sum, length) => sum + length, 0);
}

/**
 * Where the list goes on behind a row: with the place of the row, and its id if the caller may see it. Callers can read it.
 * Without the id, another task of the same ms and hash may be left out.
 */
function cursorAfter(text: string, task: Task | undefined): string {
  const body = text.indexOf('{');
  const seen = task ? text.indexOf(JSON.stringify(task.id), body) + JSON.stringify(task.id).length : body;
  return Buffer.from(`${text.slice(0, seen)}\uffff`).toString('base64url');
}

/** @throws InvalidOptionsError */
function placeIn(mark: string, first: string, end: string): string {
  const begin = Buffer.from(mark, 'base64url').toString();
  if (begin >= first && begin < end) return begin;
  throw new InvalidOptionsError('the list of tasks', [`from: ${show(mark)} is not "next" of a page of this list`]);
}
