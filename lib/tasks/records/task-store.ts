import type { Context } from '../../core/context/context.js';
import { Slices } from '../../core/async/slices.js';
import { afterWrite } from '../../core/store/after-write.js';
import { answerWithin } from '../../core/store/answer-within.js';
import { unblock, type FirstState, type Stamp, type Submission, bornOf, hasEnded } from '../rules/transitions.js';
import { TaskDependencies } from './task-dependencies.js';
import type { CancelAuthor } from './cancel.js';
import { type Claim, isOfClaim, whyLost } from '../rules/claim.js';
import { Claiming } from './claiming.js';
import { TextCells, type TextPlan, type TextStep } from '../../core/cell/text-cells.js';
import { FairRotation } from './fair-rotation.js';
import { Groups } from './groups/groups.js';
import { Members } from './groups/group-records.js';
import { Hints, hintOfWrite } from './hints.js';
import { RetainedBytes } from './retained-bytes.js';
import type { Dedup } from '../rules/submit-options.js';
import type { Submitted } from '../rules/answers.js';
import { type NewTask, isAlone, isKnown, mayFollow } from '../rules/submission.js';
import { Settling } from './settling.js';
import { GroupStops } from './group-stops.js';
import { Parents } from './parents.js';
import type { Outcome, Task, TaskLimits } from '../rules/task.js';
import { decodeTask, encodeTask } from '../rules/task.codec.js';
import { type MemberName, groupId, isTaskId } from '../rules/task-id.js';
import { LeaseExpiredError } from '../rules/tasks.errors.js';
import { PacedStore } from './paced-store.js';
import * as transitions from '../rules/transitions.js';
import type { WrittenPlace } from './submitting.js';
import type { TaskFault } from '../rules/task-parts.js';

/** Key of no task: ids have a colon, or a bracket. */
const ANY_KEY = 'start';

/**
 * All changes of tasks in the store, in the collections of the store. Each change is one write by comparison. The steps
 * between writes can all be taken again, by any node: the sweep finds tasks that a crash left between two steps.
 */
export class TaskStore {
  readonly texts: TextCells;
  readonly groups: Groups;
  readonly hints: Hints;
  readonly turns: FairRotation;
  readonly paced: PacedStore;
  /** Large texts are made and read one after another, and not all in one turn of the event loop. */
  readonly slices: Slices;
  readonly parents: Parents;
  readonly stops: GroupStops;
  readonly awaiting: TaskDependencies;
  readonly settling: Settling;
  /** Absent if the bytes of ended tasks are not limited. */
  readonly retained?: RetainedBytes;
  readonly #claiming: Claiming;
  #written: (text: string) => void = () => undefined;

  /** @param maxRetainedBytes of all tasks that have ended; absent: no limit */
  constructor(
    readonly context: Context,
    maxRetainedBytes?: number,
  ) {
    const { store, random } = context;
    const groupTexts = new TextCells(store.groups, context);
    if (maxRetainedBytes !== undefined) this.retained = new RetainedBytes(maxRetainedBytes, groupTexts, context);
    this.slices = Slices.of(context.nodeClock);
    this.texts = new TextCells(store.tasks, context, {
      hintOf: hintOfWrite,
      written: (former, next, isSeen) => {
        this.hints.written(former, next, isSeen);
        this.retained?.note(former, next);
        if (next !== undefined) this.#written(next);
      },
    });
    this.groups = new Groups({
      texts: groupTexts,
      clusterClock: context.clusterClock,
      stamp: () => this.stamp(),
      id: () => random.id(),
      slices: this.slices,
      members: new Members(this.texts, this.slices),
    });
    this.parents = new Parents(this);
    this.stops = new GroupStops(this, context);
    this.awaiting = new TaskDependencies(this);
    this.settling = new Settling(this);
    this.paced = new PacedStore(store, context.nodeClock);
    this.hints = new Hints(this.paced, context);
    this.turns = new FairRotation(this.paced, context);
    this.#claiming = new Claiming(this);
  }

  /** @param written called with each text of a task that this node writes */
  watchWrites(written: (text: string) => void): void {
    this.#written = written;
  }

  /**
   * Submits a task once: the same id is known while the task has not ended, or as long as it is remembered.
   *
   * @throws InvalidOptionsError if members of a group disagree
   * @throws UnknownOutcomeError if the task may have been submitted: submit it again, that has no further effect
   * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError
   */
  submit(newTask: NewTask, dedup: Dedup): Promise<Submitted> {
    if (isAlone(newTask)) return this.create(newTask, dedup);
    const { member, ...others } = newTask;
    return this.#submitMember(member!, others, dedup);
  }

  async #submitMember(name: MemberName, newTask: Omit<NewTask, 'member'>, dedup: Dedup): Promise<Submitted> {
    const { type, id } = newTask;
    let known: Task | undefined;
    if (newTask.awaits) await this.awaiting.expectPossible(newTask, dedup);
    const mayBegin = async () => {
      // A crash may have come between its end and its dependents. A new incarnation does not know them.
      await this.awaiting.tellEndOfGroup(groupId(type, name.group));
      // A closed group has all its members, so a look after the root was found closed surely finds one that is remembered.
      return dedup === 'unfinished' || (known = await this.find(id)) === undefined;
    };
    const opened = await this.groups.open(type, name, mayBegin);
    const member = opened?.member ?? known?.member;
    const newMember = { ...newTask, ...(member && { member }) };
    const make = transitions.firstState(name, opened?.stopped);
    const submitted = known ? isKnown(known) : await this.create(newMember, dedup, make);
    // It may have ended before the total was noted. One that was created looks at its own end.
    if (member && submitted.outcome === 'known' && name.total !== undefined) {
      await afterWrite(() => this.settling.joinIfEnded(type, member, newTask));
    }
    return submitted;
  }

  /**
   * Claims the task of a hint, or for a ticket the task whose turn it is. If the outcome is unknown, tries again for half
   * of the lease: a claim that is forgotten would count as a crash.
   *
   * @param owner instance that has the task; default: this node
   * @param limits those that the task has from now on; default: its own
   * @returns undefined if it is gone, or another node was first
   * @throws StoreUnavailableError if it was surely not claimed, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  claim(
    hint: string,
    lease: number,
    owner = this.context.node.instance,
    limits?: TaskLimits,
  ): Promise<Claim | undefined> {
    return this.#claiming.claim(hint, { lease, owner, limits });
  }

  /** @param lease ms from now @throws LeaseExpiredError, StoreUnavailableError, UnknownOutcomeError */
  async renew(claim: Claim, lease: number): Promise<void> {
    await this.#change(claim, (task, stamp) => transitions.renew(task, lease, stamp));
  }

  /** Notes what the attempt has reported, and leaves the lease as it is. @throws as {@link renew} */
  async report(claim: Claim): Promise<void> {
    await this.#change(claim, (task, { nonce }) => ({ ...task, nonce }));
  }

  /** Notes that the task will have sub-tasks. @throws as {@link renew} */
  async split(claim: Claim): Promise<void> {
    await this.#change(claim, transitions.split);
  }

  /** Notes the wish to cancel a task of this node. @throws as {@link renew} */
  async cancel(claim: Claim, author: CancelAuthor): Promise<void> {
    if (!claim.task.cancel) await this.#change(claim, (task, stamp) => transitions.cancel(task, author, stamp));
  }

  /** Gives a task back that this node does not work on. Another node may claim it at once. */
  async giveBack(claim: Claim): Promise<void> {
    await this.#last(claim, transitions.giveBack);
  }

  /**
   * Ends a task, and tells its group.
   *
   * @throws LeaseExpiredError if the result is refused
   * @throws UnknownOutcomeError if the result may have been accepted
   * @throws StoreUnavailableError
   */
  async end(claim: Claim, outcome: Outcome, result?: unknown): Promise<void> {
    await this.#last(claim, (task, stamp) => transitions.end(task, outcome, stamp, result));
  }

  /** Notes that an attempt failed. @throws as {@link end} */
  async fail(claim: Claim, error: TaskFault, isFinal: boolean): Promise<void> {
    const chance = this.context.random.number();
    await this.#last(claim, (task, stamp) =>
      isFinal
        ? transitions.end({ ...task, error, attempts: task.attempts + 1 }, 'invalid', stamp)
        : transitions.fail(task, error, stamp, chance),
    );
  }

  /** Lets the task wait. @param after ms */
  async retryLater(claim: Claim, after: number): Promise<void> {
    await this.#last(claim, (task, stamp) => transitions.retryAt(task, stamp.now + after, stamp));
  }

  /** Carries out the effects of a task that was written; see {@link Settling}. Any node may do it again. */
  settle(task: Task, text: string, confirmed?: ReadonlySet<string>): Promise<void> {
    return this.settling.settle(task, text, confirmed);
  }

  /** @throws StoreUnavailableError, CorruptRecordError, NewerRecordError */
  async find(id: string): Promise<Task | undefined> {
    const text = isTaskId(id) ? await this.texts.read(id) : undefined;
    return text === undefined ? undefined : decodeTask(text);
  }

  /** Cluster time, and a new nonce. @throws StoreUnavailableError while cluster time is unknown */
  async stamp(): Promise<Stamp> {
    const { clusterClock, timers, timing } = this.context;
    if (!clusterClock.isFresh) {
      // Right after the start a read waits for the first connection, and a reading of the clock does not.
      await this.texts.read(ANY_KEY);
      await answerWithin(timers, timing.callTimeout, 'return its time', () => clusterClock.sample());
    }
    return this.#stampNow();
  }

  #stampNow(): Stamp {
    const { clusterClock, random } = this.context;
    return { now: clusterClock.latest(), nonce: random.id() };
  }

  /** Makes a task in the state that `make` returns, unless there is one of this id. @param place default: the store */
  create(
    submission: Submission,
    dedup: Dedup,
    make = transitions.submit,
    { texts }: WrittenPlace = this,
  ): Promise<Submitted> {
    const { id, awaits } = submission;
    // A task that is known waits for nothing new, so this is looked up before. Most others are new.
    return texts.change(id, this.#creation(submission, dedup, make), {
      known: awaits ? undefined : { text: undefined },
    });
  }

  #creation(submission: Submission, dedup: Dedup, make: FirstState): TextPlan<Submitted> {
    const made = new Map<string, Submitted>();
    let settled: string | undefined;
    return async (found) => {
      const former = found === undefined ? undefined : decodeTask(found);
      // A node may have claimed it before this one learned that its write was applied.
      const created = former && made.get(bornOf(former));
      if (created) return { result: created };
      if (former && !mayFollow(submission, former, dedup)) {
        if (former.state !== 'done' || dedup !== 'unfinished' || found === settled)
          return this.#again(submission, former);
        // Its node may have died before it finished it.
        await this.settle(former, found!);
        settled = found;
        return { isChanged: true };
      }
      if (former) {
        await this.parents.removeFamily(former);
        await this.settling.tellEndOf(former, found!);
      }
      const registered = submission.awaits && (await this.awaiting.register(submission, submission.afterFailed));
      const stamp = this.context.clusterClock.isFresh ? this.#stampNow() : await this.stamp();
      if (this.slices.isOver) await this.slices.turn();
      const first = make({ ...submission, ...(registered && { after: registered.after }) }, former, stamp);
      const task = unblock(first, registered?.failed ?? [], stamp);
      const write = encodeTask(task);
      const because = former ? 'the former task of this id has ended' : 'it is new';
      const answer: Submitted = { id: task.id, outcome: 'created', because };
      made.set(stamp.nonce, answer);
      const done = async () => {
        // Nothing is left to do for a task that waits: its hint went with the write.
        if (task.state !== 'waiting') await afterWrite(() => this.settle(task, write));
        return answer;
      };
      return { write, done };
    };
  }

  /**
   * There is such a task. Its group may be a new incarnation after a loss of data. One that is earlier is of a submission
   * that stood still: the group has begun anew since.
   */
  #again({ member, sub }: Submission, task: Task): TextStep<Submitted> {
    const answer = isKnown(task);
    const place = { ...(member && { member }), ...(sub && { sub }) };
    const isLater = ((member ?? sub)?.incarnation ?? 0) > ((task.member ?? task.sub)?.incarnation ?? 0);
    if (hasEnded(task) || !isLater) return { result: answer };
    const write = encodeTask({ ...task, ...place, born: bornOf(task), nonce: this.context.random.id() });
    return { write, done: () => answer };
  }

  /** The change that ends a claim, and the steps after it. It is made once: after an error of those steps all is tried again. */
  async #last(claim: Claim, make: (task: Task, stamp: Stamp) => Task): Promise<void> {
    if (claim.task.state === 'claimed') await this.#change(claim, make);
    await afterWrite(() => this.settle(claim.task, claim.text, claim.confirmed));
  }

  /** Changes of one claim must come one after another. A text that another node moved within the same claim counts. */
  async #change(claim: Claim, make: (task: Task, stamp: Stamp) => Task): Promise<void> {
    const rule = async (text: string | undefined): Promise<TextStep<void>> => {
      if (text !== claim.text && !(await this.#isStillClaimed(claim, text))) return { result: undefined };
      await this.slices.turn(claim.text.length);
      const stamp = await this.stamp();
      const task = make(claim.current, stamp);
      const write = encodeTask(task);
      claim.written.add(stamp.nonce);
      const done = () => {
        // No earlier write of this claim can be applied any more.
        claim.written.clear();
        claim.follow(task, write);
      };
      return { write, done };
    };
    await this.texts.change(claim.task.id, rule, { known: { text: claim.text } });
  }

  /** Follows the text that was found. @returns false if a write of this claim has ended it @throws LeaseExpiredError */
  async #isStillClaimed(claim: Claim, text: string | undefined): Promise<boolean> {
    const found = text === undefined ? undefined : decodeTask(text);
    const isCovered = found !== undefined && claim.covers(found);
    if (!found || !(isCovered || isOfClaim(found, claim)))
      throw new LeaseExpiredError(claim.task.id, whyLost(found, claim.task));
    claim.follow(found, text!);
    // Written by a call whose answer was lost. The store may have made it in two steps, and not have come to the hint.
    if (found.state === 'waiting') await this.hints.offer(found, text!);
    return isCovered;
  }
}
