import { InvalidOptionsError, isLongerThan, isTaskType, lineFault, show } from '../../core/decision/index.js';
import type { SubmitOptions } from './submit-options.js';

declare const TYPES: unique symbol;

/**
 * A type of tasks, and the types of their data and results. Made with `defineTask()`. Submissions and handlers share it, so the
 * compiler checks that they fit.
 */
export interface TaskDefinition<In = unknown, Out = unknown> {
  /** Name of the type. */
  readonly type: string;
  /** Options of its submissions, where they give no others. */
  readonly options: SubmitOptions;
  /** Only for the compiler: no definition has this field. */
  readonly [TYPES]?: {
    /** Type of the data. */
    readonly data: In;
    /** Type of the result. */
    readonly result: Out;
  };
}

/** A type of tasks: its name, or its definition. */
export type TaskType = string | TaskDefinition;

/** Type of the data of a definition's tasks. */
export type DataOf<D extends TaskDefinition> = D extends TaskDefinition<infer In> ? In : never;

/** Type of the results of a definition's tasks. */
export type ResultOf<D extends TaskDefinition> = D extends TaskDefinition<unknown, infer Out> ? Out : never;

/** Name of a task: its type, and a name of its own, or its number in a group. Make it with {@link single} or {@link grouped}. */
export interface TaskName<In = unknown> {
  /** Name of the type. */
  readonly type: string;
  /** The task's id in the whole cluster: `mail:order-7`, or `import[2026-06]#12` for a member of a group. */
  readonly id: string;
  /** Its place in a group; absent for a task of its own. */
  readonly member?: MemberName;
  /** Options of the task's definition. */
  readonly defaults?: SubmitOptions;
  /** Only for the compiler: no name has this field. */
  readonly [TYPES]?: {
    /** Type of the data. */
    readonly data: In;
  };
}

/** A member of a group. */
export interface MemberName {
  /** Name of the group. */
  readonly group: string;
  /** From 1; 0 stands for all members of a group that has none. */
  readonly number: number;
  /** Number of members; known at the latest when the last member is submitted. 0 for a group without members. */
  readonly total?: number;
}

/** Name of a group of tasks. Make it with {@link wholeGroup}. */
export interface GroupName {
  /** Name of the type. */
  readonly type: string;
  /** Id of the group in the whole cluster: `import[2026-06]`. */
  readonly id: string;
  /** Name of the group. */
  readonly group: string;
}

/** Characters. The id is a key of the store, and part of every text about the task. */
const LONGEST_NAME = 200;
/** Begins the names of sub-tasks, and of their groups. Names of applications begin otherwise. */
export const OF_SUB_TASKS = '^';
/** Members of one group. Their numbers are bits in pages. */
export const LARGEST_GROUP = 1_000_000;

/**
 * The name of a task of its own.
 *
 * @param task type of the task: 1 to 64 letters, digits, `_`, `.` or `-`; or its definition
 * @param name 1 to 200 characters; the same type and name are the same task
 * @throws InvalidOptionsError
 *
 * @example single('mail', 'order-7')
 */
export function single<In = unknown>(task: string | TaskDefinition<In>, name: string): TaskName<In> {
  const { type, ...defaults } = typeOf(task);
  expectValid('a task', [...typeFaults(type), ...nameFaults('name', name)]);
  return { type, id: `${type}:${name}`, ...defaults };
}

/**
 * The name of a member of a group. When all members have ended, the group's handler runs. Number 0 of 0 members stands for
 * the whole of a group that has none: when it is submitted, the group's handler runs at once.
 *
 * @param task as for {@link single}; a group belongs to one type
 * @param group 1 to 200 characters
 * @param number of the member, from 1; or 0 of a total of 0
 * @param total number of members. If it is not known yet, give it with the last member
 * @throws InvalidOptionsError
 *
 * @example grouped('import', '2026-06', 12, 100)
 * @example grouped('import', '2026-06', 0, 0)
 */
export function grouped(task: TaskType, group: string, number: 0, total: 0): TaskName<undefined>;
export function grouped<In = unknown>(
  task: string | TaskDefinition<In>,
  group: string,
  number: number,
  total?: number,
): TaskName<In>;
export function grouped<In = unknown>(
  task: string | TaskDefinition<In>,
  group: string,
  number: number,
  total?: number,
): TaskName<In> {
  const { type, ...defaults } = typeOf(task);
  expectValid('a task of a group', [
    ...typeFaults(type),
    ...nameFaults('group', group),
    ...placeFaults({ number, total }),
  ]);
  const member = { group, number, ...(total !== undefined && { total }) };
  return { type, id: memberId(type, group, number), member, ...defaults };
}

/**
 * The name of a group, to wait for its end: of all members, and of its handler.
 *
 * @param task type of its members, or its definition
 * @param group name of the group
 * @throws InvalidOptionsError
 *
 * @example wholeGroup('import', '2026-06')
 */
export function wholeGroup(task: TaskType, group: string): GroupName {
  const { type } = typeOf(task);
  expectValid('a group of tasks', [...typeFaults(type), ...nameFaults('group', group)]);
  return { type, id: groupId(type, group), group };
}

/** Name of a type, and its default options. Callers without types may give anything. */
export function typeOf(task: TaskType): { readonly type: string; readonly defaults?: SubmitOptions } {
  if (typeof task !== 'object' || task === null) return { type: task };
  return { type: task.type, ...(task.options && { defaults: task.options }) };
}

/** Id of a member. */
export function memberId(type: string, group: string, number: number): string {
  return `${groupId(type, group)}#${number}`;
}

/** Id of a group. No single task has such an id, because a type contains neither ":" nor "[". */
export function groupId(type: string, group: string): string {
  return `${type}[${group}]`;
}

/** Whether an id is that of a group. A member's id ends with its number, and other ids have a colon before any bracket. */
export function isGroupId(id: string): boolean {
  return id[id.search(/[:[]/)] === '[' && id.endsWith(']');
}

/** Whether an id may be that of a task or group. Other keys of the store, as those of schedules, have neither ":" nor "[". */
export function isTaskId(id: string): boolean {
  return /[:[]/.test(id);
}

/** Id of the task that runs the group's handler. */
export function joinId(type: string, group: string): string {
  return `${groupId(type, group)}#join`;
}

/** Type of the tasks that run the handler of groups of a type. No application's type has this form. */
export const joinType = (type: string): string => `${type}#join`;
/** Type of the groups of a task, or of a task that runs their handler. */
export const groupType = (type: string): string => type.replace(/#join$/, '');

/** Characters. A name has up to 200, and the rest is its type, its group's number and the mark of a sub-task. */
export const LONGEST_TASK_ID = 500;

/** The fault of an id from outside, in a sentence. The id may be that of a task or of a group. */
export function idFault(id: unknown): string | undefined {
  if (typeof id !== 'string') return `${show(id)} is not text`;
  if (isLongerThan(id, LONGEST_TASK_ID)) return `${show(id)} is longer than ${LONGEST_TASK_ID} characters`;
  if (!/^[\w.-]{1,64}[:[]./su.test(id)) return `${show(id)} is neither "type:name" nor "type[group]#number"`;
  return lineFault(id);
}

/**
 * Whether {@link single} or {@link grouped} made a name, or another program made it as they do. Callers without types may give
 * anything.
 */
export function isMadeName(name: unknown): name is TaskName {
  if (typeof name !== 'object' || name === null) return false;
  const { type, id, member } = name as Partial<TaskName>;
  if (typeFaults(type).length > 0 || typeof id !== 'string') return false;
  if (member === undefined) return id.startsWith(`${type}:`) && nameFaults('', id.slice(type!.length + 1)).length === 0;
  if (typeof member !== 'object' || member === null) return false;
  const { group, number, total } = member;
  const faults = [...nameFaults('', group), ...placeFaults({ number, total })];
  return faults.length === 0 && id === memberId(type!, group, number);
}

/** Type of a task, by its id: a type has neither a colon nor a bracket. */
export function typeOfId(id: string): string {
  return id.slice(0, Math.max(0, id.search(/[:[]/)));
}

/**
 * The name of a task by its id.
 *
 * @param total number of members of its group
 * @throws InvalidOptionsError
 */
export function nameOfId(id: string, total: number | undefined): TaskName {
  const type = typeOfId(id);
  const place = id.slice(type.length);
  const [, group, number] = /^\[(.*)\]#(0|[1-9]\d{0,6})$/su.exec(place) ?? [];
  if (group !== undefined) return grouped(type, group, Number(number), total);
  if (!place.startsWith(':')) {
    throw new InvalidOptionsError('a task', [`id: ${show(id)} is neither "type:name" nor "type[group]#number"`]);
  }
  if (total !== undefined) throw new InvalidOptionsError('a task', [`total: ${show(id)} is in no group`]);
  return single(type, place.slice(1));
}

/** The faults of a type, each in a sentence. */
export function typeFaults(type: unknown): string[] {
  if (typeof type === 'string' && isTaskType(type)) return [];
  return [`type: ${show(type)} is not 1 to 64 letters, digits, "_", "." or "-"`];
}

/** The faults of a name, each in a sentence. */
export function nameFaults(field: string, name: unknown): string[] {
  if (typeof name !== 'string') return [`${field}: ${show(name)} is not a text`];
  if (name === '') return [`${field}: "" is empty: give 1 to ${LONGEST_NAME} characters`];
  if (name.length > LONGEST_NAME) return [`${field}: ${name.length} characters are more than ${LONGEST_NAME}`];
  if (name.startsWith(OF_SUB_TASKS)) return [`${field}: ${show(name)} begins with "^", as only names of sub-tasks do`];
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(name)) return [`${field}: ${show(name)} has a control character`];
  return /\p{Surrogate}/u.test(name) ? [`${field}: ${show(name)} has half of a surrogate pair`] : [];
}

/** Whether a place stands for a group without members. */
export function isOfEmpty({
  number,
  total,
}: {
  readonly number: number;
  readonly total?: number | undefined;
}): boolean {
  return number === 0 && total === 0;
}

/** The faults of a member's number, and of the total. */
function placeFaults(place: Pick<MemberName, 'number'> & { readonly total: number | undefined }): string[] {
  const { number, total } = place;
  if (isOfEmpty(place)) return [];
  const faults = numberFaults('number', number);
  if (total !== undefined) faults.push(...numberFaults('total', total));
  if (total !== undefined && number > total) faults.push(`number: ${number} is more than the total of ${total}`);
  if (number === 0 || total === 0) faults.push('a group without members is number 0 of a total of 0: give both');
  return faults;
}

function numberFaults(field: string, number: unknown): string[] {
  if (Number.isSafeInteger(number) && (number as number) >= 1 && (number as number) <= LARGEST_GROUP) return [];
  return [`${field}: ${show(number)} is not a whole number from 1 to ${LARGEST_GROUP}`];
}

function expectValid(subject: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new InvalidOptionsError(subject, faults);
}
