import { type Observable, Subject, map, startWith } from 'rxjs';
import { inSlices } from '../core/async/slices.js';
import { Periodic } from '../core/async/periodic.js';
import type { GroupEntry, MemberPage, Membership, MembersReading } from '../core/members/index.js';
import type { MoveHistory } from './moves/move-history.js';
import type { Context } from '../core/context/context.js';
import { InvalidOptionsError, messageOf, show } from '../core/decision/index.js';
import type { Candidate } from '../leadership/index.js';
import type { ConfirmedSet } from './allocation-group.js';
import { Coordinator } from './coordinator.js';
import type { Allocated, GroupSettings } from './group-options.js';
import type { AllocationPlan, SetInDoubt } from './answers.js';
import { type GroupOverview, overviewOf, readOwners } from './group-overview.js';
import type { GroupFault } from './unowned-alarm.js';
import { MapStore } from './map-store.js';
import type { PastMoves } from './moves/move-answers.js';
import { type MovesQuery, readMoves } from './moves/past-moves.js';
import { Delivery } from './node/delivery.js';
import { NodeShare } from './node/node-share.js';
import { OwnerWork } from './node/owner-work.js';
import { Orders } from './orders/orders.js';
import { type PlanRequest, planMoves } from './plan.js';
import { type Reading, ResourceReader } from './resources/resource-reader.js';
import { type ParticipantEntry, canDecide } from './round/registry-view.js';
import { GroupRegistry } from './round/group-registry.js';

/** Nodes whose problems one sentence names. */
const MOST_SAID = 5;

/** This node's part of one group: it connects what reads, decides, owns and delivers. */
export class LocalGroup {
  /** Work on owned resources. */
  readonly work: OwnerWork;
  /** Calls of the application after each change. */
  readonly delivery: Delivery;
  /** Operators' orders. */
  readonly orders: Orders;
  readonly #map: MapStore;
  readonly #share: NodeShare;
  readonly #reader: ResourceReader;
  readonly #registry: GroupRegistry;
  readonly #coordinator: Coordinator;
  readonly #refresh: Periodic;
  readonly #ownedChanges = new Subject<void>();
  #readingFault: string | undefined;
  /** Whether this node has read the resources. */
  #hasRead = false;
  /** The set of another node for which this one has last looked. */
  #doubted: string | undefined;
  /** Monotonic ms at which a problem of any node was first seen. */
  #failingSince: number | undefined;
  #isStarted = false;
  #isClosed = false;

  constructor(
    readonly name: string,
    private readonly settings: GroupSettings,
    private readonly context: Context,
    private readonly membership: Membership,
    candidate: Candidate,
    private readonly moveHistory: MoveHistory,
  ) {
    this.#map = new MapStore(name, context, (root) => this.#share.note(root));
    const resourceOf = (id: string) => this.#reader.set?.items.get(id);
    this.#share = new NodeShare(this.#map, membership, context, resourceOf, () => this.#changed());
    this.work = new OwnerWork(name, this.#share);
    const asked = () => this.orders.asked;
    this.#reader = new ResourceReader(name, settings, context, asked, (reading) => this.#read(reading));
    this.orders = new Orders(name, context, () => this.wake());
    this.#registry = new GroupRegistry(name, context.timing.clockTolerance);
    const common = { group: name, context, share: this.#share };
    this.delivery = new Delivery({
      ...common,
      work: this.work,
      timeout: settings.handoverTimeout,
      resourceOf,
      readResources: () => this.#reader.read(),
      onGivenBack: () => void membership.announce(),
    });
    if (settings.onAllocated) this.delivery.on(settings.onAllocated);
    this.#coordinator = new Coordinator({
      ...common,
      settings,
      membership,
      candidate,
      map: this.#map,
      registry: this.#registry,
      reader: this.#reader,
      orders: this.orders,
      moves: moveHistory,
    });
    this.#refresh = new Periodic(context.nodeClock, async () => void (await this.#reader.read()), {
      interval: () => settings.refreshInterval,
      chance: context.random.number,
      onError: (error) => context.events.next({ type: 'problem', action: 'read the resources', error }),
    });
  }

  owned(): readonly Allocated[] {
    return this.#share.list;
  }

  get owned$(): Observable<readonly Allocated[]> {
    const changes = this.#ownedChanges.pipe(startWith(undefined));
    return changes.pipe(map(() => this.owned()));
  }

  owns(id: string): boolean {
    return this.#share.owned.has(id);
  }

  async rebalance(): Promise<void> {
    // The leader's reading begins after the request. A function that asks whenever it is called must not begin the next one here.
    const { underWay } = this.#reader;
    await this.orders.ask();
    await (underWay ?? this.#reader.answer());
  }

  async confirmResources({ left }: ConfirmedSet = {}): Promise<boolean> {
    expectCount(this.name, left);
    await this.membership.look(this.keys);
    const doubt = this.#doubt;
    if (!doubt || doubt.left < (left ?? 0)) return false;
    return this.orders.confirm(left ?? doubt.left);
  }

  async plan(change: PlanRequest = {}): Promise<AllocationPlan> {
    const resources = await this.#readResources();
    const { owners } = await readOwners(this.#map, this.context);
    await this.membership.look(this.keys);
    await this.orders.expectKnown();
    const living = this.#living;
    const input = { resources, living, owners, orders: this.orders.current, strategy: this.settings.strategy };
    return inSlices(planMoves(input, change), this.context.nodeClock);
  }

  /** @param look reads the members; several overviews may share one look */
  async overview(look: () => Promise<unknown> = () => this.membership.look(this.keys)): Promise<GroupOverview> {
    const owners = await readOwners(this.#map, this.context);
    await look();
    const living = this.#living;
    const [ids, orders] = [this.#reader.set?.ids, this.orders.current];
    const { unowned, problem, warnings } = this.#coordinator;
    const own = [unowned?.sentence, problem, this.#readingFault, this.orders.fault, this.delivery.fault];
    const faults = [...own, ...warnings, ...this.#othersProblems].filter((fault) => fault !== undefined);
    const facts = { name: this.name, ids, owners, living, orders, faults, doubt: this.#doubt };
    return inSlices(overviewOf(facts), this.context.nodeClock);
  }

  moves(query: MovesQuery = {}): Promise<PastMoves> {
    return readMoves(this.name, query, this.moveHistory, this.context);
  }

  get unowned(): GroupFault | undefined {
    return this.#coordinator.unowned;
  }

  /** The problems that nodes have published about the group, as one fault; undefined if there are none. */
  get failing(): GroupFault | undefined {
    const own = this.#ownProblem;
    const problems = this.#othersProblems;
    if (own !== undefined) problems.unshift(this.#saidBy(this.context.node.acquirer, own));
    if (problems.length === 0) this.#failingSince = undefined;
    if (problems.length === 0) return undefined;
    this.#failingSince ??= this.context.nodeClock.monotonic();
    const isStuck = !this.#living.some(canDecide);
    const subject = `${isStuck ? 'no node can decide on ' : ''}group ${show(this.name)}`;
    const more = problems.length > MOST_SAID ? [`and ${problems.length - MOST_SAID} other nodes`] : [];
    const sentence = `${subject}: ${[...problems.slice(0, MOST_SAID), ...more].join('; ')}`;
    return { subject: this.name, since: this.#failingSince, sentence };
  }

  get keys(): readonly string[] {
    return [this.#map.rootKey, this.orders.cell.key];
  }

  /** Whether something is on the way. */
  get isMoving(): boolean {
    return this.#share.isMoving;
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#coordinator.start();
    this.#refresh.start(0);
  }

  /** Call this when members or the leader may have changed. */
  wake(): void {
    this.#coordinator.wake();
  }

  /** Takes a reading of the members. @returns whether to call {@link catchUp} soon */
  observe(reading: MembersReading): boolean {
    return this.#registry.observe(reading);
  }

  /** Takes a page of the members that has changed. @returns whether to call {@link catchUp} soon */
  notice(place: number, page: MemberPage): boolean {
    this.#registry.notice(place, page);
    return true;
  }

  /** Looks at the members as they came. */
  catchUp(): void {
    if (!this.#registry.catchUp()) return;
    this.#giveOpinion();
    this.wake();
  }

  /** This node's part of its entry. */
  entryFor(incarnation: string): GroupEntry {
    const digest = this.#reader.set?.digest;
    // A node that shuts down gets nothing more.
    const weight = this.#isClosed ? 0 : this.settings.weight;
    const problem = this.#ownProblem;
    return {
      group: this.name,
      weight,
      ...this.#share.entryFor(incarnation),
      ...this.#coordinator.entryFor(incarnation),
      ...(digest !== undefined && { digest }),
      ...(problem !== undefined && { problem }),
    };
  }

  /** Takes over the texts of {@link keys}. */
  async take(texts: ReadonlyMap<string, string>): Promise<void> {
    await this.orders.takeIn(texts.get(this.orders.cell.key));
    const before = this.#share.newest?.nonce;
    const { root } = this.#map.rootFrom(texts.get(this.#map.rootKey));
    if (root && (await this.#share.take(root))) void this.membership.announce();
    // The leader looks when the owner map was lost, too.
    if (root?.nonce !== before) this.wake();
  }

  /** The membership lease lapsed. */
  lapse(): void {
    if (this.#share.lapse()) this.#changed();
  }

  /** Gives everything back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#refresh.stop();
    const givenBack = this.delivery.close();
    this.#ownedChanges.next();
    await Promise.all([this.#coordinator.close(), givenBack]);
    this.#share.close();
    this.#ownedChanges.complete();
  }

  #changed(): void {
    this.delivery.notify();
    this.#ownedChanges.next();
  }

  /** A node may get a resource before its own reading has it. */
  async #nameStrangers(): Promise<void> {
    if (await this.#share.nameStrangers()) this.#ownedChanges.next();
  }

  #read(reading: Reading): void {
    const isFailed = 'error' in reading;
    if (!isFailed) void this.#nameStrangers();
    const fault = isFailed ? `resources: they could not be read on this node: ${messageOf(reading.error)}` : undefined;
    if (isFailed && fault !== this.#readingFault) {
      const about = { semaphore: `allocation:${this.name}`, action: 'read the resources' };
      this.context.events.next({ type: 'problem', ...about, error: reading.error });
    }
    this.#readingFault = fault;
    this.#announceFirst(isFailed);
    this.wake();
  }

  /** If no node can decide, the others learn at once that this one has read the resources. */
  #announceFirst(isFailed: boolean): void {
    if (isFailed || this.#hasRead) return;
    this.#hasRead = true;
    if (!this.#living.some(canDecide)) void this.membership.announce('all');
  }

  /** Reads the resources, once for each set of which another node is in doubt: the next reading may be an hour away. */
  #giveOpinion(): void {
    const odd = this.#living.find(({ doubts, digest }) => doubts && digest !== this.#reader.set?.digest);
    const doubted = odd && `${odd.inc} ${odd.digest}`;
    if (odd === undefined || odd.inc === this.membership.incarnation || doubted === this.#doubted) return;
    this.#doubted = doubted;
    // At once: with its next heartbeat the opinion would come up to a third of a lease later.
    void this.#reader.read().then(() => this.membership.announce());
  }

  /** The problem that this node publishes. A failed reading is one only before the first success: then the last set stays. */
  get #ownProblem(): string | undefined {
    return this.#coordinator.publicProblem ?? (this.#hasRead ? undefined : this.#readingFault) ?? this.delivery.fault;
  }

  /** The set in doubt of the node that decides. What this node has published of itself may be old. */
  get #doubt(): SetInDoubt | undefined {
    const own = this.#coordinator.doubts;
    if (own) return { node: this.context.node.acquirer, ...own };
    const other = this.#others.find(({ doubts }) => doubts);
    return other?.doubts && { node: other.node, known: other.doubts.known, left: other.doubts.left };
  }

  get #othersProblems(): string[] {
    return this.#others.flatMap(({ node, problem }) => (problem === undefined ? [] : [this.#saidBy(node, problem)]));
  }

  #saidBy(node: string, problem: string): string {
    return `node ${show(node)}: ${problem}`;
  }

  /** @throws InvalidOptionsError if they could never be read */
  async #readResources(): Promise<readonly string[]> {
    const reading = this.#reader.set ? { set: this.#reader.set } : await this.#reader.read();
    if ('set' in reading) return reading.set.ids;
    const fault = `the resources can't be read: ${messageOf(reading.error)}`;
    throw new InvalidOptionsError(`the plan of group ${show(this.name)}`, [fault]);
  }

  get #others(): readonly ParticipantEntry[] {
    return this.#living.filter(({ inc }) => inc !== this.membership.incarnation);
  }

  get #living(): readonly ParticipantEntry[] {
    return [...(this.#registry.view?.living.values() ?? [])];
  }
}

/** @throws InvalidOptionsError */
function expectCount(group: string, left: unknown): void {
  if (left === undefined || (Number.isSafeInteger(left) && (left as number) >= 0)) return;
  const fault = `left: ${show(left)} is no whole number from 0`;
  throw new InvalidOptionsError(`the confirmation of a set in group ${show(group)}`, [fault]);
}
