import { Subscription, filter } from 'rxjs';
import { Slices } from '../core/async/slices.js';
import { Wakeup } from '../core/async/wakeup.js';
import type { GroupEntry, Membership } from '../core/members/index.js';
import type { MoveHistory } from './moves/move-history.js';
import type { Context } from '../core/context/context.js';
import { InvalidOptionsError, show } from '../core/decision/index.js';
import { isUnreadable } from '../core/cell/known-record.js';
import { answerWithin } from '../core/store/answer-within.js';
import { StoreUnavailableError } from '../core/store/index.js';
import type { Cluster } from '../leadership/index.js';
import { GroupExistsError, UnknownGroupError } from './allocation.errors.js';
import type { AllocationGroup } from './allocation-group.js';
import { ALLOCATION_PREFIX, type GroupSettings, MOST_GROUPS, TOO_MANY } from './group-options.js';
import type { GroupOverview } from './group-overview.js';
import { type GroupCode, LazyGroup } from './lazy-group.js';
import type { LocalGroup } from './local-group.js';
import type { GroupFault } from './unowned-alarm.js';

/** The scope whose leader decides on the owners. */
export const ALLOCATION_SCOPE = 'allocation';
/** ms between two looks at the owner maps while resources are on the way, if no hint comes. */
const LOOK = 1000;

/** Characters of the problems that one entry may have: many nodes share a page, and each heartbeat reads it. */
const LONGEST_PROBLEMS = 2000;
/** Characters of one problem. */
const LONGEST_PROBLEM = 200;

/** Shortens the problems of all groups. What has no room is a word: others must know that there is a problem. */
function shortened(entries: readonly GroupEntry[]): GroupEntry[] {
  let left = LONGEST_PROBLEMS;
  return entries.map(({ problem, ...entry }) => {
    if (problem === undefined) return entry;
    const text = problem.length > LONGEST_PROBLEM ? `${problem.slice(0, LONGEST_PROBLEM - 1)}…` : problem;
    left -= text.length;
    return { ...entry, problem: left < 0 ? 'see its log' : text };
  });
}

/**
 * The allocation groups of this node. One loop reads the owner maps of all groups that move or that a hint is about, with
 * one call. The heartbeats of the membership read those of all groups.
 */
export class Allocation {
  readonly #groups = new Map<string, LazyGroup>();
  readonly #wakeup: Wakeup;
  readonly #subscriptions = new Subscription();
  #loop: Promise<void> | undefined;
  #endWatch?: () => Promise<void>;
  #startsWithFirst = false;
  #isStarted = false;
  /** Whether groups begin as soon as their code is loaded. */
  #takesPart = false;
  #isClosed = false;
  /** Groups whose texts may have changed since they were read. */
  readonly #due = new Set<LocalGroup>();
  /** The membership lease in which all were last read. */
  #incarnation: string | undefined;
  /** Groups that have not looked at what came of the members. */
  readonly #behind = new Set<LocalGroup>();
  #isCatchingUp = false;
  /** Whether the loop waits for a hint only. */
  #isWaiting = false;

  constructor(
    private readonly context: Context,
    private readonly membership: Membership,
    /** The leadership of the scope `allocation`, whose leader decides on the owners. */
    readonly cluster: Cluster,
    private readonly moves: MoveHistory,
  ) {
    this.#wakeup = new Wakeup(context.nodeClock);
  }

  /** The groups in which this node takes part. */
  get groups(): readonly AllocationGroup[] {
    return [...this.#groups.values()];
  }

  /** Groups whose resources have had no owner for too long. Known on the leader. */
  get unowned(): readonly GroupFault[] {
    return this.#own.flatMap((group) => group.unowned ?? []);
  }

  /** Groups with a problem on some node, as far as this node knows. */
  get failing(): readonly GroupFault[] {
    return this.#own.flatMap((group) => group.failing ?? []);
  }

  /** @throws UnknownGroupError */
  group<T>(name: string): AllocationGroup<T> {
    const group = this.#groups.get(name);
    if (!group) throw new UnknownGroupError(name, [...this.#groups.keys()]);
    return group as AllocationGroup as AllocationGroup<T>;
  }

  /** Overviews of some of this node's groups, with one look at the members for all. */
  overviews(names: readonly string[]): Promise<GroupOverview>[] {
    let looking: Promise<unknown> | undefined;
    const keys = () => names.flatMap((name) => this.#groups.get(name)?.own?.keys ?? []);
    const look = () => (looking ??= this.membership.look(keys()));
    return names.map(async (name) => (this.group(name) as LazyGroup).overview(look));
  }

  /**
   * Adds a group. This node takes part in it at once if it has been started, and never if it closes.
   *
   * @throws GroupExistsError
   */
  add(name: string, settings: GroupSettings): AllocationGroup {
    if (this.#groups.has(name)) throw new GroupExistsError(name);
    if (this.#groups.size >= MOST_GROUPS) throw new InvalidOptionsError(`allocation group ${show(name)}`, [TOO_MANY]);
    const make = ({ LocalGroup: Group }: GroupCode) =>
      new Group(name, settings, this.context, this.membership, this.cluster.scope(), this.moves);
    const group = new LazyGroup(name, make, (own) => this.#opened(own));
    this.#groups.set(name, group);
    if (this.#isClosed) void group.close();
    else if (this.#startsWithFirst) void this.start().catch((error: unknown) => this.#report(error));
    else if (this.#isStarted) group.open().catch((error: unknown) => this.#reportLoading(error));
    return group;
  }

  /** A group that was added after {@link start} begins when its code is loaded. */
  #opened(group: LocalGroup): void {
    if (!this.#takesPart || this.#isClosed) return;
    group.start();
    this.#due.add(group);
    this.#wakeup.ring();
  }

  /** Begins to take part when the first group is added. */
  startWithFirst(): void {
    this.#startsWithFirst = true;
  }

  /** Begins to take part in all groups. Does not wait for the store. Idempotent. */
  async start(): Promise<void> {
    if (this.#isStarted || this.#isClosed) return;
    this.#isStarted = true;
    this.#startsWithFirst = false;
    await this.#open();
    if (this.#isClosed) return;
    const { context, membership, cluster } = this;
    membership.publish((incarnation) => shortened(this.#own.map((group) => group.entryFor(incarnation))), {
      keys: () => this.#keys(),
      take: (texts, keys) => void this.#take(texts, this.#groupsOf(keys)),
    });
    const { readings, changes } = membership;
    this.#subscriptions.add(readings.subscribe((reading) => this.#catchUp((group) => group.observe(reading))));
    this.#subscriptions.add(
      changes.subscribe(({ place, page }) => this.#catchUp((group) => group.notice(place, page))),
    );
    this.#subscriptions.add(cluster.scope().changes.subscribe(() => this.#each((group) => group.wake())));
    const lost = context.events.pipe(filter(({ type }) => type === 'membership-lost'));
    this.#subscriptions.add(lost.subscribe(() => this.#each((group) => group.lapse())));
    this.#subscriptions.add(membership.participants$.subscribe(() => this.#lookAfterJoin()));
    this.#endWatch = await context.store.watch(ALLOCATION_PREFIX, ({ key }) => this.#hint(key));
    if (this.#isClosed) return this.#stopWatching();
    this.#takesPart = true;
    for (const group of this.#own) group.start();
    this.#hint(undefined);
    await cluster.initialize();
    this.#loop = this.#run();
  }

  /** Gives all resources back, after callbacks and work. The membership must end only after that. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wakeup.ring();
    const groups = [...this.#groups.values()];
    await Promise.all([this.#loop, this.cluster.close(), ...groups.map((group) => group.close())]);
    this.#subscriptions.unsubscribe();
    await this.#stopWatching();
  }

  async #stopWatching(): Promise<void> {
    const { timers, timing } = this.context;
    const stop = async () => this.#endWatch?.();
    const ending = answerWithin(timers, timing.callTimeout, 'end the watch', stop);
    await ending.catch((error: unknown) => this.#report(error));
  }

  /** @param key undefined: anything may have changed */
  #hint(key: string | undefined): void {
    const hinted = key === undefined ? this.#own : this.#groupsOf([key]);
    for (const group of hinted) this.#due.add(group);
    if (hinted.length > 0) this.#wakeup.ring();
  }

  /** A node that has joined again looks at once. */
  #lookAfterJoin(): void {
    const { incarnation } = this.membership;
    if (incarnation !== this.#incarnation) this.#hint(undefined);
    this.#incarnation = incarnation;
  }

  #groupsOf(keys: readonly string[]): readonly LocalGroup[] {
    const asked = new Set(keys);
    return this.#own.filter((group) => group.keys.some((key) => asked.has(key)));
  }

  /** While nothing is on the way, the heartbeats of the membership read the owner maps. */
  async #run(): Promise<void> {
    while (!this.#isClosed) {
      this.#wakeup.reset();
      await this.#look().catch((error: unknown) => this.#report(error));
      if (this.#isClosed) return;
      this.#isWaiting = !this.#isMoving;
      await this.#wakeup.wait(this.#isWaiting ? undefined : LOOK, false);
    }
  }

  async #look(): Promise<void> {
    const { store } = this.context;
    const groups = this.#own.filter((group) => this.#due.has(group) || group.isMoving);
    if (groups.length === 0) return;
    // A hint that comes from now on is about a later text.
    this.#due.clear();
    const keys = groups.flatMap((group) => group.keys);
    const texts = await store.records.readMany(keys);
    await this.#take(texts, groups);
  }

  get #isMoving(): boolean {
    return this.#own.some(({ isMoving }) => isMoving);
  }

  #keys(): readonly string[] {
    return this.#own.flatMap((group) => group.keys);
  }

  async #take(texts: ReadonlyMap<string, string>, groups: readonly LocalGroup[]): Promise<void> {
    const slices = Slices.of(this.context.nodeClock);
    for (const group of groups) {
      if (slices.isOver) await slices.turn();
      await group.take(texts).catch((error: unknown) => this.#report(error));
    }
    // A resource that is on the way is looked for sooner than with the next heartbeat.
    if (this.#isWaiting && this.#isMoving) this.#wakeup.ring();
  }

  /** The groups whose code is loaded: all of them, but for those that were added a moment ago. */
  get #own(): readonly LocalGroup[] {
    return [...this.#groups.values()].flatMap(({ own }) => own ?? []);
  }

  /** Loads the code of the groups that there are. */
  async #open(): Promise<void> {
    await Promise.all([...this.#groups.values()].map((group) => group.open()));
  }

  /** Gives all groups something of the members. They look at it in slices: many groups of many nodes take long. */
  #catchUp(give: (group: LocalGroup) => boolean): void {
    for (const group of this.#own) if (give(group)) this.#behind.add(group);
    if (!this.#isCatchingUp) void this.#catchUpInSlices();
  }

  async #catchUpInSlices(): Promise<void> {
    const slices = Slices.of(this.context.nodeClock);
    this.#isCatchingUp = true;
    try {
      for (const group of this.#behind) {
        if (slices.isOver) await slices.turn();
        this.#behind.delete(group);
        group.catchUp();
      }
    } finally {
      this.#isCatchingUp = false;
    }
  }

  #each(call: (group: LocalGroup) => void): void {
    for (const group of this.#own) call(group);
  }

  #reportLoading(error: unknown): void {
    this.context.events.next({ type: 'problem', action: 'load the code of allocation', error });
  }

  #report(error: unknown): void {
    if (this.#isClosed || isUnreadable(error)) return;
    const { reachability, events } = this.context;
    if (error instanceof StoreUnavailableError) reachability.lost(error);
    else events.next({ type: 'problem', action: 'read the owner maps', error });
  }
}
