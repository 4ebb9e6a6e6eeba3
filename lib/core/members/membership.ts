import { type Observable, ReplaySubject, Subject } from 'rxjs';
import type { CancelTimer } from '../async/node-clock.js';
import { Periodic } from '../async/periodic.js';
import type { Context } from '../context/context.js';
import { byName } from '../context/node-identity.js';
import type { Participant } from '../context/participant.js';
import { isUnreadable } from '../cell/known-record.js';
import { answerWithin } from '../store/answer-within.js';
import { type Notify, StoreUnavailableError } from '../store/index.js';
import type { MemberPage } from './member-page.js';
import { LivingMembers, type MemberChange } from './living-members.js';
import { type Companion, MemberPages, type MembersReading } from './member-pages.js';
import { type GroupsOf, type MembershipOptions, LocalMember } from './local-member.js';

/** Heartbeats in one lease. */
const BEATS = 3;
/** Tries in one lease after a failed heartbeat, and the longest time between two of them in ms. */
const TRIES = 10;
const LONGEST_PAUSE = 500;
/** Shortest time in ms between two judgements: a lease that can't be judged yet is looked at again. */
const SHORTEST_WAIT = 200;

/**
 * The nodes of the cluster that have a membership lease. Each node renews its own lease every third of it, with one
 * write. It believes in the lease by its own clocks only, and stops `clockTolerance` early. The other nodes judge it by
 * the rules for permits. Without the option `membership` a node neither joins nor looks at the others.
 */
export class Membership {
  readonly #pages: MemberPages;
  readonly #own: LocalMember;
  readonly #others: LivingMembers;
  readonly #periodic: Periodic;
  /** Each complete look at all pages. */
  readonly readings = new Subject<MembersReading>();
  /** Each new version of a page, with its place in the readings. */
  readonly changes = new Subject<{
    /** Index of the page in the readings. */
    readonly place: number;
    /** The page as it stands in the store now. */
    readonly page: MemberPage;
  }>();
  readonly #list = new ReplaySubject<readonly Participant[]>(1);
  #listed: readonly Participant[] = [];
  #published?: readonly Participant[];
  /** This node in the list, while its lease is held. */
  #self: Participant | undefined;
  #hasBeenMember = false;
  /** Whether this node has read all pages. Before that, it knows only some of the others. */
  #hasLooked = false;
  #isFailing = false;
  #isStarted = false;
  #isClosed = false;
  /** The announcement that has not begun yet, and the nodes that a hint is for. */
  #announcement: { readonly written: Promise<void>; notify: Notify } | undefined;
  /** The last one that has begun. */
  #announcing: Promise<void> = Promise.resolve();
  readonly #timers: CancelTimer[] = [];

  constructor(
    private readonly context: Context,
    private readonly options: MembershipOptions,
  ) {
    this.#pages = new MemberPages(context, (page, record) => {
      this.#others.update(page, record);
      this.changes.next({ place: this.#pages.all.indexOf(page), page: record });
    });
    this.#own = new LocalMember(this.#pages.all, context, options, () => this.#lapse());
    this.#others = new LivingMembers(context, (...change) => this.#changed(...change));
    this.#periodic = new Periodic(context.nodeClock, () => this.#heartbeat(), {
      interval: () => this.#untilNextHeartbeat(),
      chance: context.random.number,
      onError: (error) => this.#report(error),
    });
  }

  /**
   * Joins, and begins to look at the other nodes. The gatekeeper calls this when it starts, if the option `membership`
   * is set. Idempotent. Does not wait for the store.
   */
  async start(): Promise<void> {
    if (this.#isStarted || this.#isClosed) return;
    this.#isStarted = true;
    await this.#pages.start();
    this.#periodic.start(0);
  }

  /** Duration of this node's lease in ms. */
  get lease(): number {
    return this.options.lease;
  }

  /** Whether this node's own lease is held now, by its own clocks. */
  get isHeld(): boolean {
    return this.#own.isHeld;
  }

  /** Time in ms until this node's own lease lapses, by its own clocks, unless it is renewed. 0 if it is not held. */
  get remaining(): number {
    return this.#own.remaining;
  }

  /** Id of this node's unbroken lease, while it is held. A node that lost its lease joins again with another id. */
  get incarnation(): string | undefined {
    return this.#own.incarnation;
  }

  /**
   * The participants as this node knows them now, sorted by group, acquirer and id. This node is among them while its
   * own lease is held. While the store can't be asked, the others stay as last known. Empty after the gatekeeper closed.
   * Does not ask the store.
   */
  participants(): readonly Participant[] {
    if (this.#self && !this.#own.isHeld) this.#refresh();
    return this.#listed;
  }

  /**
   * The participants after each change. Replays the last list. The first list comes when this node has joined and has
   * looked at all pages. Completes when the gatekeeper closes.
   */
  get participants$(): Observable<readonly Participant[]> {
    return this.#list.asObservable();
  }

  /** Publishes the allocation groups of this node with each heartbeat, and reads their texts, too. */
  publish(groupsOf: GroupsOf, companion: Companion): void {
    this.#own.publish(groupsOf);
    this.#pages.attach(companion);
  }

  /**
   * Writes this node's entry now, because its groups have changed. Calls in one turn of the event loop, and while another
   * one is being written, are one write. The next heartbeat writes it too, so a failure is only reported.
   *
   * @param notify the nodes that a hint is for: those that wait for changes, or all
   */
  announce(notify: Notify = 'waiting'): Promise<void> {
    if (!this.#announcement) {
      this.#announcing = this.#announcing.then(() => this.#writeAnnouncement());
      this.#announcement = { written: this.#announcing, notify };
    }
    if (notify === 'all') this.#announcement.notify = 'all';
    return this.#announcement.written;
  }

  async #writeAnnouncement(): Promise<void> {
    const { notify } = this.#announcement!;
    this.#announcement = undefined;
    if (this.#isStarted && !this.#isClosed) await this.#renew(notify).catch((error: unknown) => this.#report(error));
  }

  /**
   * Reads the entries of all nodes now.
   *
   * @param others keys of the companion that the same call reads
   * @returns undefined if a part of them can't be read now
   * @throws StoreUnavailableError
   */
  look(others?: readonly string[]): Promise<MembersReading | undefined> {
    return this.#take(this.#pages.look(others));
  }

  async #take(looking: Promise<MembersReading | undefined>): Promise<MembersReading | undefined> {
    const reading = await looking;
    if (reading) this.readings.next(reading);
    return reading;
  }

  /** Announces that this node waits for changes of entries: see {@link changes}. Call the returned function to end it. */
  awaitChanges(): () => void {
    const ends = this.#pages.all.map((page) => page.awaitChanges());
    return () => ends.forEach((end) => end());
  }

  /** Leaves, so that the other nodes see that at once. The gatekeeper calls this when it closes. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#periodic.stop();
    this.#cancelTimers();
    if (this.#isStarted) {
      const { timers, timing } = this.context;
      await this.#own.leave().catch((error: unknown) => this.#report(error));
      const ending = answerWithin(timers, timing.callTimeout, 'end the watch', () => this.#pages.stop());
      await ending.catch((error: unknown) => this.#report(error));
    }
    this.#listed = [];
    this.readings.complete();
    this.changes.complete();
    this.#list.complete();
  }

  /** Looks before it writes, so that the write starts from the present text although other nodes share the page. */
  async #heartbeat(): Promise<void> {
    this.#isFailing = true;
    // A failed look must not keep this node from renewing its lease.
    const look = await this.#take(this.#pages.lookAtAll()).catch((error: unknown) => ({ error }));
    // The write drops entries that were over for long, and an entry that is missing proves nothing.
    if (!this.#hasLooked) await this.#others.judge().catch((error: unknown) => this.#report(error));
    await this.#renew();
    if (look && 'error' in look) throw look.error;
    await this.#others.judge();
    this.context.reachability.back();
    this.#isFailing = false;
    this.#hasLooked = true;
    this.#refresh();
  }

  async #renew(notify?: Notify): Promise<void> {
    const renewal = await this.#own.renew(notify);
    if (renewal === 'none') return;
    if (renewal === 'joined') {
      // After an outage, all nodes need time to join again.
      const { nodeClock } = this.context;
      if (this.#hasBeenMember) this.#others.judgeFrom(nodeClock.monotonic() + this.options.lease / BEATS);
      this.#hasBeenMember = true;
      this.#self = this.#own.participant;
    }
    this.#refresh();
  }

  #changed(change: MemberChange, member: Participant, incarnation: string): void {
    // The nodes that the first look finds did not join now.
    if (!this.#hasLooked || this.#isClosed) return;
    this.context.events.next({ type: `member-${change}`, member, incarnation });
    this.#refresh();
  }

  /** Notices the end of the own lease. */
  #lapse(): void {
    const member = this.#self;
    if (!member) return;
    this.#self = undefined;
    if (!this.#isClosed) this.context.events.next({ type: 'membership-lost', member });
  }

  /** Brings the list up to date, and sets the timer for the next end of a lease. */
  #refresh(): void {
    // Read once: between two readings the lease may end, and then no timer would be set, and no end noticed.
    const { remaining } = this.#own;
    if (remaining <= 0) this.#lapse();
    if (this.#isClosed) return;
    this.#setTimers(remaining);
    const list = [...this.#others.participants, ...(this.#self ? [this.#self] : [])].toSorted(byName);
    const isSame = list.length === this.#listed.length && list.every((member, at) => member === this.#listed[at]);
    if (!isSame) this.#listed = Object.freeze(list);
    if (!this.#hasLooked || this.#published === this.#listed) return;
    this.#published = this.#listed;
    this.#list.next(this.#listed);
  }

  /** @param remaining ms until the own lease ends */
  #setTimers(remaining: number): void {
    this.#cancelTimers();
    // Without a lease of its own, this node is out of touch, and judges no other.
    if (remaining <= 0) return;
    const { nodeClock } = this.context;
    // Its own: to judge others takes answers of the store, and the own end must not wait for them.
    this.#timers.push(nodeClock.schedule(() => this.#refresh(), Math.ceil(remaining)));
    const others = Math.max(SHORTEST_WAIT, this.#others.untilNextEnd);
    if (others < remaining) this.#timers.push(nodeClock.schedule(() => void this.#check(), others));
  }

  #cancelTimers(): void {
    for (const cancel of this.#timers.splice(0)) cancel();
  }

  async #check(): Promise<void> {
    if (this.#own.isHeld) await this.#others.judge().catch((error: unknown) => this.#report(error));
    this.#refresh();
  }

  #untilNextHeartbeat(): number {
    const { lease } = this.options;
    return this.#isFailing ? Math.min(LONGEST_PAUSE, lease / TRIES) : lease / BEATS;
  }

  #report(error: unknown): void {
    // The cell of the page has reported a text that can't be read.
    if (isUnreadable(error)) return;
    if (error instanceof StoreUnavailableError) this.context.reachability.lost(error);
    else this.context.events.next({ type: 'problem', action: 'renew the membership lease', error });
  }
}
