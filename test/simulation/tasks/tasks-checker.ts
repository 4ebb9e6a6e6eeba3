import type { Incarnation, Task } from '../../../lib/tasks/rules/task.js';
import { decodeTask } from '../../../lib/tasks/rules/task.codec.js';
import { bornOf, hasEnded } from '../../../lib/tasks/rules/transitions.js';
import { ChainChecker, isUnstarted } from './chain-checker.js';
import { QueueChecker } from './queue-checker.js';
import type { PlannedLink } from './chain-plan.js';
import { UNIQUE_TYPE } from './uniques.js';
import type { Trace } from '../world/trace.js';

/** One life of a task: from a submission to its end. */
export interface Life {
  readonly id: string;
  readonly born: string;
  /** Whether the store has taken a cancel of it. */
  isCancelled: boolean;
  /** The text that is in the store; the last one before it was removed. */
  task: Task;
  hasEnding?: true;
}

/**
 * Looks at every write of a task that the store applies.
 *
 * | promise | it means                                                                          |
 * | ------- | --------------------------------------------------------------------------------- |
 * | T1      | a task that was accepted ends                                                      |
 * | T2      | a task ends once, under the token of its last claim; tokens of an id grow          |
 * | T3      | one join task per incarnation of a group ends, after all members have ended        |
 * | T4      | a cancelled task ends as cancelled, without a result; one that completed is not tried again |
 * | T5      | nothing is left: no record, no timer                                               |
 * | T6      | a type never has more attempts at once than permits (see `type-limits.ts`)             |
 * | T7      | a task ends after its sub-tasks and the handlers of their groups                   |
 * | T8      | a group that is stopped begins no more attempts (see `stopped-groups.ts`)          |
 * | T9      | the progress of a task is of its latest attempt                                    |
 * | T10     | a task with `after` starts when all of these have ended, and not if one failed (see `chain-checker.ts`) |
 * | T11     | one task of a serial queue is at its turn, in the order of the submissions (see `queue-checker.ts`) |
 * | T12    | of unique submissions, the last one that replaces counts (see `uniques.ts`)              |
 * | T13    | a task runs on nodes that its target names, and moves if its process is gone (see `address-checker.ts`) |
 * | T14    | a fair key with few tasks is not starved by one with many (see `fair-checker.ts`)        |
 * | T15    | an attempt begins when no other one counts on the task (see `attempts-checker.ts`)       |
 */
export class TasksChecker {
  readonly violations: string[] = [];
  /** Lives by id. */
  readonly #lives = new Map<string, Life[]>();
  readonly #tokens = new Map<string, number>();
  /** Incarnation of each group -> joins that ended. */
  readonly joins = new Map<string, number>();
  readonly #accepted = new Set<string>();
  /** Newest text of each key, decoded: the next write finds it as the former one. */
  readonly #newest = new Map<string, { readonly text: string; readonly task: Task }>();
  /** Ids of tasks that were to be retried by hand. */
  readonly #retried = new Set<string>();
  readonly #chains: ChainChecker;
  readonly #queues: QueueChecker;
  /** The same for groups of sub-tasks. */
  readonly subJoins = new Map<string, number>();
  claims = 0;
  subTasks = 0;
  ends = 0;

  constructor(
    private readonly trace: Trace,
    links: ReadonlyMap<string, PlannedLink>,
  ) {
    this.#queues = new QueueChecker(this.#lives, (text) => this.violated(text));
    this.#chains = new ChainChecker(links, this.#lives, (text) => this.violated(text));
  }

  violated(text: string): void {
    this.trace.note('!!!', () => text);
    this.violations.push(text);
  }

  /** A node begins to submit a task. */
  asked(id: string): void {
    this.#queues.asked(id);
  }

  /** A retry by hand begins. */
  askedAgain(id: string): void {
    this.#retried.add(id);
  }

  /** A submission was answered. */
  accepted(id: string): void {
    this.#queues.accepted(id);
    this.#accepted.add(id);
  }

  /** A cancel was answered with success. */
  expectCancelled(id: string): void {
    if (!this.wasCancelled(id)) this.violated(`T4 ${id} was not cancelled, although the answer says so`);
  }

  wasCancelled(id: string): boolean {
    return (this.#lives.get(id) ?? []).some(({ isCancelled }) => isCancelled);
  }

  observe(key: string, former: string | undefined, next: string | undefined): void {
    if (/^(root:|page:|list:|tail:|#|@)/.test(key)) return;
    const before = former === undefined ? undefined : this.#decoded(key, former);
    const after = next === undefined ? undefined : this.#decoded(key, next);
    this.trace.note('', () => `  ${key}: ${describe(before)} -> ${describe(after)}`);
    if (after) this.#changed(key, before, after);
    else if (before?.state !== 'finished') this.violated(`T1 ${key} was removed while it was ${before?.state}`);
  }

  #decoded(key: string, text: string): Task {
    const newest = this.#newest.get(key);
    if (newest?.text === text) return newest.task;
    const task = decodeTask(text);
    this.#newest.set(key, { text, task });
    return task;
  }

  /** Whether nothing is {@link open}. Cheaper: asked after each happening. */
  get isDone(): boolean {
    for (const lives of this.#lives.values()) if (!lives.every(({ task }) => hasEnded(task))) return false;
    for (const id of this.#accepted) if (!this.#lives.has(id)) return false;
    return true;
  }

  /** @returns the ids of tasks that were accepted, or written, and have not ended */
  get open(): string[] {
    const open = [...this.#lives.values()].flat().filter(({ task }) => !hasEnded(task));
    const unknown = [...this.#accepted].filter((id) => !this.#lives.has(id));
    return [...open.map(({ id }) => id), ...unknown];
  }

  /** The task as it stands in the store, or stood there last. */
  latest(id: string): Task | undefined {
    return this.#lives.get(id)?.at(-1)?.task;
  }

  /** The members of an incarnation. */
  membersOf(group: string, incarnation: number): Task[] {
    const ids = [...this.#lives.keys()].filter((id) => id.startsWith(`${group}#`));
    return ids.flatMap((id) => this.latest(id) ?? []).filter(({ member }) => member?.incarnation === incarnation);
  }

  isAccepted(id: string): boolean {
    return this.#accepted.has(id);
  }

  #changed(key: string, before: Task | undefined, after: Task): void {
    if (after.token < (this.#tokens.get(key) ?? 0)) {
      // A record that was removed begins anew; then its tokens must still be higher, as they follow cluster time.
      if (after.state === 'claimed') this.violated(`T2 token of ${key} went back to ${after.token}`);
    }
    if (after.state === 'claimed' && before?.state === 'waiting') {
      this.claims++;
      if (after.token <= (this.#tokens.get(key) ?? 0)) this.violated(`T2 token of ${key} did not grow`);
      this.#tokens.set(key, after.token);
      if (after.join) this.#expectMembersEnded(key, after.join);
      this.#chains.claimed(after);
      this.#queues.claimed(after);
    }
    // The handlers report their token.
    if (after.owner && after.progress && after.progress.done !== after.token)
      this.violated(`T9 ${key} has the progress of token ${after.progress.done} under token ${after.token}`);
    const life = this.#lifeOf(key, after);
    if (after.state === 'blocked') this.#chains.blocked(after);
    life.isCancelled ||= after.cancel !== undefined;
    if (before?.ending?.outcome === 'completed' && !after.ending && this.#isTriedAgain(before, after))
      this.violated(`T4 ${key} was tried again, although it completed`);
    if (hasEnded(after) && !(before && hasEnded(before) && bornOf(before) === bornOf(after))) this.#over(after);
    if (!after.ending || (before?.ending && bornOf(before) === bornOf(after))) return;
    this.ends++;
    if (life.hasEnding) this.violated(`T2 ${key} ended twice`);
    life.hasEnding = true;
    if (isSkipped(before, after) || isUnstarted(before, after)) return;
    this.#ended(key, before, after);
    const { outcome, result } = after.ending;
    const isEndOfCancel = outcome === 'cancelled' && result === undefined;
    if (life.isCancelled !== isEndOfCancel) this.violated(`T4 ${key} was cancelled and ended as ${outcome}`);
    // The handler of a group that runs again by hand is counted once.
    if (after.join && !after.join.isOver) this.#joined(after);
  }

  /** A retry keeps the time of the submission. By the clocks of two nodes a submission may have that of the one before, too. */
  #isTriedAgain(before: Task, after: Task): boolean {
    return this.#retried.has(after.id) && after.submittedAt === before.submittedAt;
  }

  /** The end is of the claim; of a cancelled task also by another node. */
  #ended(key: string, before: Task | undefined, { token, cancel, ending }: Task): void {
    const isOfClaim = before?.state === 'claimed' && before.token === token;
    const isWaiting = ['waiting', 'delayed', 'blocked'].includes(before?.state ?? '');
    // A member of a group that is stopped ends when it is submitted.
    const isStopped = cancel?.isOfGroup && (!before || before.ending !== undefined);
    if (!isOfClaim && !(cancel && isWaiting) && !isStopped) this.violated(`T2 ${key} ended without its claim`);
    // Ids of writes begin with the name of their node.
    const isOfOwner = ending!.by.startsWith(`${before?.owner}.`);
    if (ending!.outcome !== 'crashed' && !cancel && !isOfOwner) this.violated(`T2 ${key} was ended by ${ending!.by}`);
  }

  /** The handler of a group begins. After the group's end members may run again by hand. */
  #expectMembersEnded(key: string, { group, incarnation, isOver }: Incarnation): void {
    const of = `${group}/${incarnation}`;
    if (isOver || this.joins.has(of) || this.subJoins.has(of)) return;
    const members = key.slice(0, key.lastIndexOf('#') + 1);
    for (const [id, lives] of this.#lives) {
      const life = lives.at(-1);
      if (id === key || !id.startsWith(members) || (life && hasEnded(life.task))) continue;
      this.violated(`T3 ${key} was claimed before ${id} had ended`);
    }
  }

  #joined({ join, sub }: Task): void {
    const of = `${join!.group}/${join!.incarnation}`;
    const joins = sub ? this.subJoins : this.joins;
    joins.set(of, (joins.get(of) ?? 0) + 1);
  }

  /** Nothing is left to do for a task but to tell its group. */
  #over({ id, split, sub }: Task): void {
    if (sub) this.subTasks++;
    if (split === undefined) return;
    for (const { task } of [...this.#lives.values()].flat()) {
      const isChild = task.sub?.parent === id && task.sub.incarnation === split;
      if (isChild && !hasEnded(task)) this.violated(`T7 ${id} ended before its sub-task ${task.id}`);
    }
  }

  #lifeOf(key: string, task: Task): Life {
    const lives = this.#lives.get(key) ?? [];
    this.#lives.set(key, lives);
    const born = bornOf(task);
    const found = lives.find((life) => life.born === born);
    if (found) return Object.assign(found, { task });
    const former = lives.at(-1);
    const of = task.sub && this.#lives.get(task.sub.parent)?.at(-1)?.task;
    const isTriedAgain = former?.task.submittedAt === task.submittedAt;
    if (of?.split === task.sub?.incarnation && of && hasEnded(of) && !isTriedAgain)
      this.violated(`T7 ${key} began after ${of.id} ended`);
    if (former && !hasEnded(former.task)) {
      const isReplaced = task.type === UNIQUE_TYPE && ['waiting', 'delayed'].includes(former.task.state);
      if (!isReplaced) this.violated(`T1 ${key} was submitted anew before it had ended`);
      lives.pop();
    }
    const life: Life = { id: key, born, isCancelled: false, task };
    lives.push(life);
    return life;
  }
}

/** A sub-task that was announced, and never submitted. */
function isSkipped(before: Task | undefined, { sub, cancel, ending, token }: Task): boolean {
  return sub !== undefined && !cancel && ending?.outcome === 'cancelled' && token === (before?.token ?? 0);
}

function describe(task: Task | undefined): string {
  if (!task) return 'none';
  const { state, token, attempts, crashes, owner, ending, member } = task;
  return JSON.stringify([state, token, attempts, crashes, owner, ending?.outcome, member?.incarnation]);
}
