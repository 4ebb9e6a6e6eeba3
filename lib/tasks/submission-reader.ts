import { InvalidOptionsError, ReservedNameError, show } from '../core/decision/index.js';
import { MOST_BYTES, readJson } from './rules/json.js';
import { isTickId } from './rules/schedule-record.js';
import type { NewTask } from './rules/submission.js';
import {
  type AwaitedName,
  type ParsedSubmitOptions,
  type SubmitOptions,
  parseSubmitOptions,
  type UniqueOptions,
} from './rules/submit-options.js';
import { subAwaitedId } from './rules/sub-name.js';
import { type TaskName, isMadeName, isOfEmpty, nameFaults, single } from './rules/task-id.js';

interface ReaderParts {
  /** Bytes of data as JSON. */
  readonly mostBytes?: number;
  /** Absent if the nodes don't publish themselves. */
  readonly nodes?: unknown;
  /** Cluster time in ms. @throws StoreUnavailableError */
  readonly now: () => Promise<number>;
}

/** A submission whose data and options can be used. */
interface ReadTask {
  readonly task: NewTask;
  readonly dedup: ParsedSubmitOptions['dedup'];
  readonly unique?: NonNullable<ParsedSubmitOptions['unique']>;
  /** Absent for a submission to the store itself. */
  readonly tx?: unknown;
}

/** Reads the arguments of submissions, which callers without types may give in any form. */
export class SubmissionReader {
  constructor(private readonly parts: ReaderParts) {}

  /**
   * @param parent id of the task whose handler submits it
   * @throws InvalidOptionsError
   */
  async read(name: TaskName, data: unknown, options: SubmitOptions | undefined, parent?: string): Promise<ReadTask> {
    const { id: givenId, defaults } = expectName(name);
    const parsed = parseSubmitOptions(givenId, options, defaults);
    const { runAt, dedup, priority, limits, failGroupFast, after, afterFailed, unique, to, fairKey, tx } = parsed;
    const { id, type, member } = unique ? nameOfKey(name, unique.key, data) : name;
    expectNoTick(id);
    const faults: string[] = [];
    if (unique && after) faults.push(NOT_UNIQUE);
    if (tx !== undefined && (member || parent !== undefined || unique || after)) faults.push(NOT_ALONE);
    if (!member && options?.failGroupFast) faults.push(NO_GROUP);
    if (member && isOfEmpty(member) && (options?.after || options?.runAt !== undefined)) faults.push(AT_ONCE);
    if (to?.orAnother && !this.parts.nodes) faults.push(NO_HEARTBEAT);
    if (faults.length > 0) throw new InvalidOptionsError(`task ${show(id)}`, faults);
    const read = readJson(data, this.parts.mostBytes ?? MOST_BYTES);
    if ('fault' in read) throw new InvalidOptionsError(`task ${show(id)}`, [`data: ${read.fault}`]);
    const at = runAt === undefined ? undefined : await this.#timeOf(runAt);
    const task: NewTask = {
      id,
      type,
      priority,
      limits,
      ...(read.text !== undefined && { data: read.value, dataText: { of: read.value, text: read.text } }),
      ...(member && { member, ...(failGroupFast && { failGroupFast }) }),
      ...(at !== undefined && { runAt: at }),
      ...(after && { awaits: [...new Set(after.map((each) => awaitedId(each, parent)))] }),
      ...(afterFailed && { afterFailed }),
      ...(to && { to }),
      ...(fairKey !== undefined && { fairKey: fairKeyOf(id, fairKey, data) }),
    };
    return { task, dedup, ...(unique && { unique }), ...(tx !== undefined && { tx }) };
  }

  /** A delay counts by cluster time. */
  async #timeOf(runAt: Date | number): Promise<number> {
    return runAt instanceof Date ? runAt.getTime() : (await this.parts.now()) + runAt;
  }
}

/**
 * Checks that the package does not make this id itself. The other ids that it makes, of sub-tasks and of the tasks that run
 * the handlers of groups, are no made names.
 *
 * @throws ReservedNameError
 */
function expectNoTick(id: string): void {
  if (!isTickId(id)) return;
  const why = `${show(id)} is the id of a tick of a schedule, which its nodes submit: give another name, such as "by-hand"`;
  throw new ReservedNameError(`task ${show(id)}`, [`id: ${why}`]);
}

const NOT_UNIQUE = 'after: a unique task waits for no other tasks';
const NOT_ALONE =
  'tx: a transaction takes only a task of its own: no member of a group, no sub-task, and none with "unique" or "after"';
const NO_GROUP = 'failGroupFast: the task is in no group; name it with grouped()';
const AT_ONCE = 'after, runAt: a group without members has no task that could wait: submit it when it may end';
const NO_HEARTBEAT =
  'to.orAnother: no node would see that another one is gone, because "heartbeat" is 0; set a heartbeat, or leave it out';

function awaitedId(name: AwaitedName, parent: string | undefined): string {
  if (parent !== undefined) return subAwaitedId(name, parent);
  return typeof name === 'string' ? name : name.id;
}

/** Callers without types may give anything. @throws InvalidOptionsError */
export function expectName(name: TaskName): TaskName {
  if (isMadeName(name)) return name;
  throw new InvalidOptionsError('a task', [`name: ${show(name)} is no name: make it with single() or grouped()`]);
}

/** The fair key of one task. @throws InvalidOptionsError if it can't be used */
export function fairKeyOf(id: string, key: NonNullable<SubmitOptions['fairKey']>, data: unknown): string {
  const text = typeof key === 'function' ? key(data as never) : key;
  const faults = nameFaults('fairKey', text);
  if (faults.length > 0) throw new InvalidOptionsError(`task ${show(id)}`, faults);
  return text;
}

/**
 * The name of a submission with its key.
 *
 * @throws InvalidOptionsError if the name is of a group, or the key can't be a name
 */
function nameOfKey(name: TaskName, key: UniqueOptions['key'], data: unknown): TaskName {
  if (name.member) {
    throw new InvalidOptionsError(`task ${show(name.id)}`, ['unique: a member of a group is one task by its number']);
  }
  if (key === undefined) return name;
  const text = typeof key === 'function' ? key(data as never) : key;
  const faults = nameFaults('unique.key', text);
  if (faults.length > 0) throw new InvalidOptionsError(`task ${show(name.id)}`, faults);
  return { ...name, id: single(name.type, text).id };
}
