import { GatekeeperError, InvalidOptionsError, messageOf, show } from '../../core/decision/index.js';
import { isStoreError } from '../../core/store/index.js';
import type { SubmitOptions } from '../rules/submit-options.js';
import { type TaskDefinition, type TaskName, groupId, grouped } from '../rules/task-id.js';
import type { Submitted } from '../rules/answers.js';

/** Arguments of a submission after the name. Data may be left out if their type allows `undefined`. */
export type SubmitArguments<In> = undefined extends In
  ? [data?: In, options?: SubmitOptions]
  : [data: In, options?: SubmitOptions];

/** A task for `submitMany()`. */
export type SubmitRequest<In = unknown> = {
  /** Made with `single()` or `grouped()`. */
  readonly name: TaskName<In>;
  /** As for `submit()`. */
  readonly options?: SubmitOptions;
} & (undefined extends In
  ? {
      /** Any JSON value, of the type of the name's definition. */
      readonly data?: In;
    }
  : {
      /** Any JSON value, of the type of the name's definition. */
      readonly data: In;
    });

/**
 * All members of a group, for `submitMany()`: one for each entry of the list, whose length is the total. The group of an empty
 * list has no members, and its handler runs at once.
 *
 * @param task type of the members, or its definition
 * @param group 1 to 200 characters
 * @param list the data of each member
 * @param options of each of them; as for `submit()`
 * @throws InvalidOptionsError if the type or the name can't be used
 *
 * @example tasks.submitMany(groupOf('import', '2026-06', paths))
 */
export function groupOf<In = unknown>(
  task: string | TaskDefinition<In>,
  group: string,
  list: readonly In[],
  options?: SubmitOptions,
): SubmitRequest<In>[] {
  const request = (name: TaskName<In>, data?: In) => ({ name, data, ...(options && { options }) }) as SubmitRequest<In>;
  if (list.length === 0) return [request(grouped<In>(task, group, 0, 0))];
  return list.map((data, index) => request(grouped(task, group, index + 1, list.length), data));
}

/** `submitMany()` stopped at its first error, which is the `cause`. Other tasks of the list may have been submitted. */
export class SubmitManyError extends GatekeeperError {
  static override readonly className = 'SubmitManyError';
  readonly code = 'submit-many';

  /** Number of tasks that were submitted, or known. */
  readonly submitted: number;

  constructor(
    /** The answers by place in the list. A task without one was not submitted, or perhaps was: submit it again. */
    readonly outcomes: readonly (Submitted | undefined)[],
    options: { readonly cause: unknown },
  ) {
    const submitted = outcomes.filter((outcome) => outcome !== undefined).length;
    const reason = messageOf(options.cause);
    super(
      `only ${submitted} tasks of the list were submitted: ${reason}. Submit those without an outcome again`,
      options,
    );
    this.submitted = submitted;
  }
}

/** The compiler accepts more fields in a list that is made by `map()`. @throws InvalidOptionsError */
export function expectNoTransaction(task: SubmitRequest): void {
  if (typeof task !== 'object' || task === null || !('tx' in task)) return;
  const fault = 'tx: it stands beside the options, where it has no effect: give it as options: { tx }';
  throw new InvalidOptionsError(`task ${show(task.name?.id)}`, [fault]);
}

/**
 * Each task of a list has its own options. Callers without types may give some beside the list.
 *
 * @param rest the arguments after the list
 * @throws InvalidOptionsError
 */
export function expectOnlyList(rest: readonly unknown[]): void {
  if (rest.every((each) => each === undefined)) return;
  throw new InvalidOptionsError('a list of tasks', [
    `${show(rest[0])}: options beside the list have no effect: give them in each task, as { name, data, options }`,
  ]);
}

/** Submissions at the same time: enough to keep the store busy, few enough that its other callers need not wait. */
const AT_ONCE = 64;

type Source<Item> = Iterable<Item> | AsyncIterable<Item>;

/**
 * Submits all items of a list, {@link AT_ONCE} at the same time. The next item is asked for when there is room, so a slow
 * store slows a generator down. If the store gives up a submission while it answers others, it is too busy: then half as many
 * run at the same time, and this one is tried again. A task that waits for earlier ones of the list is submitted after these:
 * the store refuses to wait for what it does not know.
 *
 * @param turn waits for a later turn of the event loop if much was done in this one: large data take long to be made text
 * @throws SubmitManyError after the first error, when the submissions that had begun have ended
 */
export async function submitMany<Item>(
  source: Source<Item>,
  submit: (item: Item) => Promise<Submitted>,
  turn: () => Promise<void> | undefined,
): Promise<Submitted[]> {
  const outcomes: (Submitted | undefined)[] = [];
  const errors: unknown[] = [];
  /** Each with the ids that its task is known by. */
  const running = new Map<Promise<void>, readonly string[]>();
  const pace = new Pace(submit, () => errors.length > 0);
  const carryOut = async (item: Item, index: number, earlier: readonly Promise<void>[]) => {
    try {
      await Promise.all(earlier);
      if (errors.length === 0) outcomes[index] = await pace.submit(item);
    } catch (error) {
      errors.push(error);
    }
  };
  const begin = (item: Item, index: number) => {
    outcomes[index] = undefined;
    const { ids, after } = linksOf(item);
    const earlier = [...running].filter(([, known]) => known.some((id) => after.has(id))).map(([run]) => run);
    const run: Promise<void> = carryOut(item, index, earlier).finally(() => running.delete(run));
    running.set(run, ids);
  };
  try {
    let count = 0;
    for await (const item of expectList(source)) {
      // Errors may have come while the source was asked.
      if (errors.length > 0) break;
      await turn();
      begin(item, count++);
      if (running.size >= pace.most) await Promise.race(running.keys());
      if (errors.length > 0) break;
    }
  } catch (error) {
    errors.push(error);
  }
  await Promise.all(running.keys());
  if (errors.length > 0) throw new SubmitManyError(outcomes, { cause: errors[0] });
  return outcomes as Submitted[];
}

/**
 * Callers without types may give anything. A text would be a list of its characters.
 *
 * @throws InvalidOptionsError
 */
export function expectList<Item>(list: Source<Item>): Source<Item> {
  const given = list as Partial<Iterable<Item> & AsyncIterable<Item>> | null | undefined;
  const isList = typeof given === 'object' && (given?.[Symbol.iterator] ?? given?.[Symbol.asyncIterator]) !== undefined;
  if (isList) return list;
  throw new InvalidOptionsError('a list of tasks', [
    `tasks: ${show(list)} is no list: give one of { name, data, options }`,
  ]);
}

/**
 * The ids of a task and of its group, and the ids that it waits for. Callers without types may give anything: what is no
 * request links nothing, and is refused by its submission.
 */
function linksOf(item: unknown): { readonly ids: readonly string[]; readonly after: ReadonlySet<unknown> } {
  const { name, options } = Object(item) as Partial<SubmitRequest>;
  const { id, type, member } = Object(name) as Partial<TaskName>;
  const ids = [id, member && groupId(String(type), String(member.group))].filter((each) => typeof each === 'string');
  const after: unknown = Object(options).after;
  const awaited = Array.isArray(after) ? after.map((each) => (typeof each === 'string' ? each : Object(each).id)) : [];
  return { ids, after: new Set(awaited) };
}

/** So many submissions at the same time as the store can answer. */
class Pace<Item> {
  #most = AT_ONCE;
  /** Submissions that were answered without an error. */
  #answered = 0;
  readonly #sent = new Set<Promise<unknown>>();

  /** @param isOver whether the list has failed */
  constructor(
    private readonly send: (item: Item) => Promise<Submitted>,
    private readonly isOver: () => boolean,
  ) {}

  /** Submissions at the same time. */
  get most(): number {
    return this.#most;
  }

  /** Tries again after an error of the store while it answers others. @throws the last error */
  async submit(item: Item): Promise<Submitted> {
    for (;;) {
      while (this.#sent.size >= this.#most) await Promise.race(this.#sent);
      const before = this.#answered;
      try {
        const outcome = await this.#noted(this.send(item));
        this.#answered++;
        return outcome;
      } catch (error) {
        if (!isStoreError(error) || this.#answered === before || this.isOver()) throw error;
        this.#most = Math.max(1, Math.floor(this.#most / 2));
      }
    }
  }

  #noted(answer: Promise<Submitted>): Promise<Submitted> {
    const ended = () => this.#sent.delete(over);
    const over: Promise<unknown> = answer.then(ended, ended);
    this.#sent.add(over);
    return answer;
  }
}
