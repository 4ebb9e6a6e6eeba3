import { hostname } from 'node:os';
import { SerialExecutor } from '../async/serial-executor.js';
import type { Context } from '../context/context.js';
import type { NodeMetadata, Participant } from '../context/participant.js';
import type { View } from '../decision/index.js';
import { spreadOf } from '../decision/texts/spread.js';
import { isUnreadable } from '../cell/known-record.js';
import type { Instant, Step } from '../cell/plan.js';
import { Incarnation } from './incarnation.js';
import type { Notify } from '../store/index.js';
import { participantOf } from './living-members.js';
import {
  type GroupEntry,
  type MemberEntry,
  type MemberPage,
  PAGES,
  entryIn,
  mayRenew,
  withEntry,
} from './member-page.js';
import type { PageCell } from './member-pages.js';

export interface MembershipOptions {
  /** ms */
  readonly lease: number;
  readonly version?: string | undefined;
  readonly metadata: NodeMetadata;
  /** The scopes of leadership in which this node takes part now. */
  readonly scopes: () => readonly string[];
}

/** Says in which allocation groups this node takes part. @param incarnation id of the lease that is being written */
export type GroupsOf = (incarnation: string) => readonly GroupEntry[];

/** Earlier leases that an entry lists. Older ones are over by time, too. */
const MOST_FORMER = 8;

/** Outcome of a heartbeat: the former lease was renewed, or this node joined, or neither. */
type Renewal = 'renewed' | 'joined' | 'none';

/**
 * This node's own membership lease, and the only code that writes its entry. A lease that lapsed is never continued: the
 * node joins again as a new incarnation, and so it does after a join whose outcome is unknown.
 */
export class LocalMember {
  #own: Incarnation;
  #entry?: MemberEntry;
  #beat = 0;
  /** Number of pages that this node gave up because they can't be read. */
  #skipped = 0;
  #isLeaving = false;
  readonly #former: string[] = [];
  readonly #queue = new SerialExecutor();
  #groupsOf: GroupsOf = () => [];

  constructor(
    private readonly pages: readonly PageCell[],
    private readonly context: Context,
    private readonly options: MembershipOptions,
    /** Called when this node gives a lease up, before it joins again. */
    private readonly onEnd: () => void,
  ) {
    this.#own = this.#newIncarnation();
  }

  get isHeld(): boolean {
    return this.#own.isHeld;
  }

  /** Id of the unbroken lease that is held now. */
  get incarnation(): string | undefined {
    return this.remaining > 0 ? this.#own.id : undefined;
  }

  /** ms until the lease lapses; 0 if it is not held. */
  get remaining(): number {
    return this.#own.remaining;
  }

  /** This node as the others see it. Undefined before it first joined. */
  get participant(): Participant | undefined {
    return this.#entry && participantOf(this.#entry);
  }

  /** Publishes the groups with each write from now on. */
  publish(groupsOf: GroupsOf): void {
    this.#groupsOf = groupsOf;
  }

  /**
   * Writes the entry: once, unless this node must join again.
   *
   * @param notify the other nodes that a hint notifies of a renewal. Of a join, all are notified
   * @throws StoreUnavailableError or UnknownOutcomeError if the store gives no clear answer
   * @throws CorruptRecordError or NewerRecordError if the page can't be read; the next call uses another page
   */
  renew(notify: Notify = 'none'): Promise<Renewal> {
    // Two at a time could each begin a new lease.
    return this.#queue.run(() => this.#renew(notify));
  }

  /** Ends the lease in the store, so that the other nodes need not wait for its end. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    // Before the write: the other nodes may see it before this node gets the answer.
    this.#own.end();
    if (this.#beat > 0) await this.#page.transact<void>((page, view, nonce) => this.#planLeave(page, view, nonce));
  }

  async #renew(notify: Notify): Promise<Renewal> {
    if (this.#own.hasJoined && (await this.#write(notify))) return 'renewed';
    // The others may see the join before this node gets the answer.
    this.#own.end();
    this.onEnd();
    // A write of it may have been applied.
    if (this.#beat > 0) this.#former.unshift(this.#own.id);
    this.#former.splice(MOST_FORMER);
    this.#own = this.#newIncarnation();
    return (await this.#write('all')) ? 'joined' : 'none';
  }

  get #page(): PageCell {
    return this.pages[(spreadOf(this.context.node.instance, PAGES) + this.#skipped) % PAGES]!;
  }

  #newIncarnation(): Incarnation {
    return new Incarnation(this.context.random.id(), this.options.lease, this.context);
  }

  /** @returns whether the lease is held after this write */
  async #write(notify: Notify): Promise<boolean> {
    const own = this.#own;
    try {
      const sent = await this.#page.transact((page, view, nonce) => this.#planWrite(own, notify, page, view, nonce));
      if (sent) own.renew(sent);
      return sent !== undefined && own.isHeld;
    } catch (error) {
      // The text stays as it is, so a node that waited for its repair might never join.
      if (isUnreadable(error)) this.#skipped++;
      throw error;
    }
  }

  #planWrite(
    own: Incarnation,
    notify: Notify,
    page: MemberPage | undefined,
    view: View,
    nonce: string,
  ): Step<MemberPage, Instant | undefined> {
    const { instance } = this.context.node;
    const isRenewal = own.hasJoined;
    const isLost = own.isOver || (isRenewal && !mayRenew(page, { instance, inc: own.id }));
    if (isLost || this.#isLeaving) return { result: undefined };
    own.begin();
    const entry = this.#nextEntry(own, view);
    return {
      write: withEntry(page, entry, view, nonce),
      done: (sent) => {
        this.#entry = entry;
        return sent;
      },
      notify,
      // Another node's write does not prove that the other copies have it: see `Cell`.
      isDoneIn: (later, isUncertain) => !isUncertain && entryIn(later, instance)?.beat === entry.beat,
    };
  }

  #planLeave(page: MemberPage | undefined, view: View, nonce: string): Step<MemberPage, void> {
    const { instance } = this.context.node;
    const entry = entryIn(page, instance);
    if (!entry || entry.ended) return { result: undefined };
    // Its lease begins again, so that the entry stays until all nodes have seen the end.
    const ended: MemberEntry = { ...entry, ...this.#nextLease(view), ended: true };
    return {
      write: withEntry(page, ended, view, nonce),
      done: () => undefined,
      isDoneIn: (later) => entryIn(later, instance)?.beat === ended.beat,
    };
  }

  #nextEntry({ id: inc }: Incarnation, view: View): MemberEntry {
    const { node } = this.context;
    const { version, metadata, scopes } = this.options;
    const startedAt = this.#entry?.startedAt ?? view.now;
    const groups = this.#groupsOf(inc);
    return {
      ...node,
      host: hostname(),
      inc,
      ...this.#nextLease(view),
      metadata,
      startedAt,
      scopes: scopes(),
      ...(version !== undefined && { version }),
      ...(this.#former.length > 0 && { former: [...this.#former] }),
      ...(groups.length > 0 && { groups }),
    };
  }

  #nextLease({ now }: View): Pick<MemberEntry, 'beat' | 'expiresAt' | 'duration'> {
    const { lease } = this.options;
    return { beat: ++this.#beat, expiresAt: now + lease, duration: lease };
  }
}
