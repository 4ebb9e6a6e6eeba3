import { pause } from '../core/async/pause.js';
import { inSlices } from '../core/async/slices.js';
import { Wakeup } from '../core/async/wakeup.js';
import type { GroupEntry, Membership, ShrunkSet } from '../core/members/index.js';
import type { MoveHistory } from './moves/move-history.js';
import type { Context } from '../core/context/context.js';
import { messageOf } from '../core/decision/index.js';
import { isUnreadable } from '../core/cell/known-record.js';
import { StoreUnavailableError, isStoreError } from '../core/store/index.js';
import type { Candidate } from '../leadership/index.js';
import type { GroupSettings } from './group-options.js';
import { type Mandate, MandateWatch } from './mandate.js';
import type { MapStore, StoredRoot } from './map-store.js';
import { MoveRecorder } from './moves/move-recorder.js';
import type { AllocationRoot } from './map/root.js';
import type { NodeShare } from './node/node-share.js';
import type { Orders } from './orders/orders.js';
import { LeaderResources } from './resources/leader-resources.js';
import type { ResourceReader } from './resources/resource-reader.js';
import type { GroupRegistry, GroupView } from './round/group-registry.js';
import { type KnownPages, NO_PAGES, pagesToPutBack } from './round/owner-map.js';
import { planRound } from './round/plan-round.js';
import { type LeaseBound, type ParticipantEntry, absentAreOverAt, isAbsent, isOver } from './round/registry-view.js';
import { GRACE, type Round, type RoundCounts, type RoundInput, UNKNOWN_ORDERS } from './round/round.js';
import { type GroupFault, UnownedAlarm, reasonOf } from './unowned-alarm.js';

interface CoordinatorParts {
  readonly group: string;
  readonly settings: GroupSettings;
  readonly context: Context;
  readonly membership: Pick<Membership, 'look' | 'awaitChanges' | 'announce' | 'lease' | 'incarnation'>;
  readonly candidate: Pick<Candidate, 'term' | 'recorded' | 'isConnected'>;
  readonly map: MapStore;
  readonly share: NodeShare;
  readonly registry: GroupRegistry;
  readonly reader: ResourceReader;
  readonly orders: Orders;
  readonly moves: MoveHistory;
}

/** ms between two looks while resources are on the way, if no hint comes. */
const LOOK = 1000;
/** ms after a failed commit, or an error. */
const RETRY = 200;
/** ms for which changes are collected, so that ten nodes that join together are one round. */
const COLLECT = 20;

/**
 * The part of the node that decides on one group, usually the leader: it reads the owner map and the members, decides, and
 * commits the next map. It looks again when a member, the resources or the orders change, and while resources are on the
 * way. In between it costs nothing.
 */
export class Coordinator {
  readonly #wakeup: Wakeup;
  readonly #closing = new AbortController();
  #loop: Promise<void> | undefined;
  readonly #watch: MandateWatch;
  /** While this node decides. */
  #mandate: Mandate | undefined;
  #confirmedUntil = 0;
  /** Number of the term in the owner map. */
  #number = 0;
  readonly #resources: LeaderResources;
  /** Everything that the last round without a change depended on. */
  #settledBy: string | undefined;
  #counts: RoundCounts | undefined; // of the last round, unless it failed
  readonly #unowned: UnownedAlarm;
  readonly #moves: MoveRecorder;
  #problem: string | undefined;
  /** Whether the last turn failed by something else than the store. */
  #isFailing = false;
  /** The lease in which this node could not decide, and why, until it could after all. Perhaps it read an odd set. */
  #handedOn: { readonly inc: string; readonly problem?: string; readonly odd?: string | undefined } | undefined;
  #endWait: (() => void) | undefined;

  constructor(private readonly parts: CoordinatorParts) {
    const { group, context, membership, registry } = parts;
    this.#wakeup = new Wakeup(context.nodeClock);
    this.#watch = new MandateWatch(context, membership, parts.candidate, registry);
    this.#resources = new LeaderResources(context, parts.reader, parts.orders);
    this.#unowned = new UnownedAlarm(group, context, membership.lease);
    this.#moves = new MoveRecorder(group, context, parts.moves, registry);
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Call this when something that matters may have changed. */
  readonly wake = (): void => this.#wakeup.ring();

  /** Why the resources can't be divided as they should, in a sentence, while this node decides or would have to. */
  get problem(): string | undefined {
    const { problem, odd } = this.#handedOn ?? {};
    const isRepaired = odd !== undefined && odd !== this.#resources.digest;
    return (isRepaired ? undefined : problem) ?? (this.#mandate && (this.#problem ?? this.#resources.problem));
  }

  /** The same for other nodes. A grace is not one: it shows in the owner map, and ends by itself. */
  get publicProblem(): string | undefined {
    return this.problem === GRACE ? undefined : this.problem;
  }

  /** Says to other nodes whether this one has handed the decision on, or needs their opinion. */
  entryFor(incarnation: string): Pick<GroupEntry, 'yields' | 'doubts'> {
    const { doubts } = this;
    const hasHandedOn = this.#handedOn?.inc === incarnation;
    return { ...(hasHandedOn && { yields: true }), ...(doubts && { doubts }) };
  }

  /** The set that counts only if other nodes read the same, or an operator confirms it, while this node decides. */
  get doubts(): ShrunkSet | undefined {
    return this.#mandate && this.#resources.doubts;
  }

  /** Warnings about nodes that read other resources, while this node decides. */
  get warnings(): readonly string[] {
    const { registry } = this.parts;
    const nodes = [...(registry.view?.living.values() ?? [])];
    return this.#mandate ? this.#resources.warnings(nodes, this.#patience) : [];
  }

  /** ms in which every node has read the resources and published what it read. */
  get #patience(): number {
    const { settings, membership } = this.parts;
    return 1.2 * settings.refreshInterval + membership.lease;
  }

  /** The alarm about resources without an owner, while this node decides. */
  get unowned(): GroupFault | undefined {
    return this.#mandate && this.#unowned.current;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wakeup.ring();
    await this.#loop;
    this.#endWait?.();
  }

  async #run(): Promise<void> {
    const { context } = this.parts;
    while (!this.#closing.signal.aborted) {
      this.#wakeup.reset();
      const delay = await this.#turn().catch((error: unknown) => this.#failed(error));
      if (this.#isFailing) await this.#handOn().catch((error: unknown) => this.#failed(error));
      if (this.#closing.signal.aborted) return;
      await this.#wakeup.wait(await this.#beforeAlarm(delay), false);
      if (this.#mandate) await pause(context.nodeClock, COLLECT, { signal: this.#closing.signal, isAwaited: false });
    }
  }

  /** Looks for resources that have no owner after each turn. @returns `delay`, or less if an alarm is due before */
  async #beforeAlarm(delay: number | undefined): Promise<number | undefined> {
    if (!this.#mandate) return delay;
    const unowned = this.#counts && (this.#counts.unownedIds ?? []);
    await inSlices(this.#unowned.observe(unowned), this.parts.context.nodeClock);
    const due = this.#unowned.check(() => this.#whyUnowned());
    return due === undefined ? delay : Math.min(due, delay ?? due);
  }

  /** An error that stays is reported once, an unreadable text where it was read. @returns ms until the next turn */
  #failed(error: unknown): number {
    const { reachability, events } = this.parts.context;
    if (this.#closing.signal.aborted) return LOOK;
    this.#isFailing = this.#mandate !== undefined && !isStoreError(error);
    if (isUnreadable(error)) this.#problem = messageOf(error);
    else if (error instanceof StoreUnavailableError) reachability.lost(error);
    else if (this.#problem !== messageOf(error)) {
      this.#problem = messageOf(error);
      events.next({ type: 'problem', semaphore: `allocation:${this.parts.group}`, action: 'allocate', error });
    }
    return LOOK;
  }

  /**
   * Lets another node decide, because this one could not, whatever the store answered: its strategy throws, or an owner map
   * is of a newer version. At most once in each lease, so that the decision does not go round in circles.
   */
  async #handOn(): Promise<void> {
    const { membership } = this.parts;
    const inc = membership.incarnation;
    this.#isFailing = false;
    const isKnown = this.#handedOn?.problem !== undefined && this.#handedOn.inc === inc;
    const odd = this.#resources.doubts ? this.#resources.digest : undefined;
    this.#handedOn = inc === undefined ? undefined : { inc, problem: this.#problem ?? 'it could not decide', odd };
    if (isKnown) return;
    await membership.announce('all');
    // The own mandate ends with what this node reads of itself.
    await membership.look();
  }

  /** It decided, because no other node could: others see that, and its next failure. */
  #recover(): void {
    if (this.#handedOn) this.#handedOn = { inc: this.#handedOn.inc };
  }

  /** @returns ms until the next turn; undefined: only a wake-up starts one */
  async #turn(): Promise<number | undefined> {
    if (!this.#watch.current) this.#rest();
    const found = await this.#watch.find();
    if (!found) return this.#watch.untilFind;
    if (this.#mandate?.id !== found.id) this.#begin(found);
    const { map, membership, share } = this.parts;
    this.#resources.adopt();
    if (this.#isSettled()) {
      if (!this.parts.registry.isStale && this.#untilNextLook() > 0) return this.#untilNextLook();
      await membership.look(this.#keys);
      if (this.#isSettled()) return Math.max(LOOK, this.#untilNextLook());
    }
    [this.#settledBy, this.#counts] = [undefined, undefined];
    const stored = await map.readRoot();
    await this.#moves.seen(stored.root);
    const pages = stored.root ? await map.readAll(stored.root) : NO_PAGES;
    const readAt = this.parts.context.nodeClock.monotonic();
    const isComplete = (await membership.look(this.#keys)) !== undefined;
    await this.#resources.update(pages);
    const latest = await map.latest();
    const { view } = this.parts.registry;
    if (view) this.#weigh(view);
    const resources = this.#resources.ids;
    const mandate = this.#watch.current;
    if (!isComplete || !view || !resources || !this.parts.orders.areAsked || mandate?.id !== found.id) return LOOK;
    if (stored.root) await map.putBack(stored, pagesToPutBack(stored.root, view, pages));
    const input = this.#input(stored, { readAt, view, resources, mandate, pages, latest });
    // Before the plan, which takes several turns of the event loop: what changes meanwhile needs another round.
    const signature = this.#signatureOf(view, stored.root, input.options.isSettled);
    const round = await inSlices(planRound(input), this.parts.context.nodeClock);
    if (round.kind === 'idle') this.#counts = round.counts;
    if (round.why === 'strategy-failed') throw round.error;
    this.#recover();
    this.#problem = round.why === 'grace' ? GRACE : input.orders.areUnknown ? UNKNOWN_ORDERS : undefined;
    if (round.kind === 'idle') return this.#idle(round, input, signature);
    // Before the commit: the first acknowledgement comes right after it.
    this.#endWait ??= membership.awaitChanges();
    this.#moves.expect(input, round);
    if (this.#watch.current?.id !== found.id || !(await map.commit(stored, round))) return RETRY;
    this.#counts = round.counts;
    this.#number = round.root.term;
    if (await share.take(round.root)) void membership.announce();
    await this.#moves.seen(round.root);
    return this.#moving();
  }

  /**
   * Lets a reading that lacks most resources count if other nodes agree. If most of them read another set, one of them
   * must decide: this node lacks the new resources, too.
   *
   * @throws Error if this node must hand the decision on
   */
  #weigh(view: GroupView): void {
    const others = this.#othersIn(view);
    this.#resources.confirmByVotes(others);
    const hasHandedOn = this.#handedOn !== undefined && this.#handedOn.inc === this.parts.membership.incarnation;
    if (!hasHandedOn && this.#resources.isOutvoted(others, this.#patience)) throw new Error(this.#resources.problem);
  }

  #othersIn({ living }: GroupView): ParticipantEntry[] {
    return [...living.values()].filter(({ inc }) => inc !== this.parts.membership.incarnation);
  }

  /** Keys that a decision reads in one call, besides those of the members. */
  get #keys(): readonly string[] {
    return [this.parts.map.rootKey, this.parts.orders.cell.key];
  }

  #rest(): void {
    this.#mandate = undefined;
    this.#settledBy = undefined;
    this.#moves.reset();
    this.#endWait?.();
    this.#endWait = undefined;
  }

  #begin(mandate: Mandate): void {
    this.#mandate = mandate;
    this.#confirmedUntil = 0;
    [this.#settledBy, this.#counts] = [undefined, undefined];
    this.#unowned.reset();
    this.#resources.reset();
  }

  #input(
    { root: found }: StoredRoot,
    now: {
      readonly readAt: number;
      readonly view: GroupView;
      readonly resources: readonly string[];
      readonly mandate: Mandate;
      readonly pages: KnownPages;
      readonly latest: number;
    },
  ): RoundInput {
    const { settings, context, membership, share, orders } = this.parts;
    const { timing, random } = context;
    const { expiresAt } = now.mandate;
    const isConfirmed = expiresAt > this.#confirmedUntil;
    this.#confirmedUntil = expiresAt;
    return {
      found,
      copy: share.newest,
      pages: now.pages,
      readAt: now.readAt,
      bornSeenAt: found ? share.bornSeenAt(found.born) : now.readAt,
      registry: now.view,
      resources: now.resources,
      orders: orders.current,
      options: {
        lease: membership.lease,
        tolerance: timing.clockTolerance,
        strategy: settings.strategy,
        limit: settings.movement,
        isSettled: this.#settleTime(now.view) <= 0,
      },
      leadership: { term: this.#number, isConfirmed },
      now: now.latest,
      nonce: random.id(),
    };
  }

  /** ms until resources may move for balance; 0 or less: now. */
  #settleTime({ calmSince }: GroupView): number {
    const { settings, context } = this.parts;
    return calmSince + settings.settleDelay - context.nodeClock.monotonic();
  }

  #idle(round: Round & { readonly kind: 'idle' }, { found }: RoundInput, signature: string | undefined): number {
    const isDone = round.why === 'settled' && found && found.limbo.length + found.lost.length === 0;
    if (!isDone) return this.#moving();
    this.#settledBy = signature;
    this.#endWait?.();
    this.#endWait = undefined;
    return this.#untilNextLook();
  }

  /** Hints about acknowledgements come only to a node that waits for them. */
  #moving(): number {
    this.#endWait ??= this.parts.membership.awaitChanges();
    const { nextChangeIn } = this.parts.registry.view ?? { nextChangeIn: LOOK };
    return Math.min(LOOK, Math.max(COLLECT, nextChangeIn));
  }

  #isSettled(): boolean {
    const { registry, map } = this.parts;
    if (this.#settledBy === undefined || !registry.view) return false;
    // Not the newest root that this node has seen: the store may have lost it.
    const isCalm = this.#settleTime(registry.view) <= 0;
    return this.#settledBy === this.#signatureOf(registry.view, map.last.root, isCalm);
  }

  /** Everything that a round depends on, by what this node knows without asking the store. */
  #signatureOf(view: GroupView, root: AllocationRoot | undefined, isSettled: boolean): string | undefined {
    const { orders } = this.parts;
    if (!root || this.#resources.isStale) return undefined;
    const over = [...root.members.keys()].filter((inc) => isOver(view, inc, this.#boundOf(root)));
    const living = [...view.living.values()].map(({ inc, weight, missing = '' }) => `${inc} ${weight} ${missing}`);
    // Another node knows a later root: the store has put back an old one.
    const isOld = [...view.living.values()].some(({ acked }) => acked?.born === root.born && acked.seq > root.seq);
    const opinion = this.#resources.opinionOf(this.#othersIn(view));
    return JSON.stringify([root.nonce, orders.revision, isSettled, isOld, over, living.toSorted(), opinion]);
  }

  #boundOf({ lease }: AllocationRoot): LeaseBound {
    const { membership, context } = this.parts;
    return { lease: Math.max(membership.lease, lease), tolerance: context.timing.clockTolerance };
  }

  /** ms until a look is due: when a lease may be over. Members that renew theirs in time need none. */
  #untilNextLook(): number {
    const { view } = this.parts.registry;
    if (!view) return 0;
    const settle = this.#settleTime(view);
    const overAt = Math.min(view.readFrom + view.nextChangeIn, this.#absentOverAt(view));
    const until = overAt - this.parts.context.nodeClock.monotonic();
    const look = this.#counts?.unowned || this.#resources.doubts ? Math.min(until, LOOK) : until;
    return settle > 0 ? Math.min(settle, look) : look;
  }

  /** Monotonic time at which the members that have no entry are over: a node that just started never saw theirs. */
  #absentOverAt(view: GroupView): number {
    const { root } = this.parts.map.last;
    if (!root || ![...root.members.keys()].some((inc) => isAbsent(view, inc))) return Infinity;
    return absentAreOverAt(view, this.#boundOf(root));
  }

  #whyUnowned(): string {
    if (!this.#counts) return this.problem ?? 'the members or the owner map can not be read or written';
    return (
      this.#problem ?? reasonOf(this.parts.registry.view?.living.values() ?? [], this.parts.orders.current.drained)
    );
  }
}
