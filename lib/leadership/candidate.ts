import { NEVER, Subject, filter, firstValueFrom, fromEvent, map, of, startWith, takeUntil, throwIfEmpty } from 'rxjs';
import { LEADERSHIP_JOB } from '../core/decision/reserved-names.js';
import { pause } from '../core/async/pause.js';
import type { Context } from '../core/context/context.js';
import type { TermEnd } from '../core/context/events.js';
import { LEADER_PREFIX, type StoredPermit } from '../core/decision/index.js';
import type { HeldPermit } from '../core/permits/held-permit.js';
import type { PermitLostError } from '../core/permits/permits.errors.js';
import { type NextHolder, type PreferenceRequest, nextHolderOf, preferring } from '../core/permits/preferences.js';
import type { NodeSemaphore } from '../core/permits/node-semaphore.js';
import { isAwaitedBy } from '../core/permits/runs/current-permit.js';
import { PermitWork } from '../core/permits/runs/permit-work.js';
import type { RunResult } from '../core/permits/runs/runner.js';
import type { SemaphoreDirectory } from '../core/permits/semaphore-directory.js';
import { NotLeaderError } from './leadership.errors.js';
import { COOLDOWN, Cooldown } from './cooldown.js';
import { Term } from './term.js';

/** Parts of the node that a candidate uses. */
export interface CandidateParts {
  readonly context: Context;
  readonly directory: Pick<SemaphoreDirectory, 'of'>;
  /** ms for which the end of a term waits for the work under it. */
  readonly grace: number;
}

/** Called with the term that has begun or ended. It may return a promise. */
export type TermListener = (term: Term) => unknown;

/** ms until the next try after an unexpected error. */
const RETRY = 1000;
/** ms for which a leader still counts as known when its permit is over. A waiting node looks again sooner. */
const SLACK = 1000;
/** Ends of a term after which others go first. After the other ends this node lost contact, or may not lead now. */
const YIELDS: ReadonlySet<TermEnd> = new Set(['resigned', 'revoked']);

/**
 * This node in one scope. It waits for the only permit of `leader:<scope>`. Each permit is a term:
 *
 *     waiting ──permit──▶ leading ──lost, resigned, paused, transferred──▶ draining ──permit given back──▶ waiting
 *                                   (the signal aborts)                             ──work is stuck: the permit expires
 *
 * {@link isLeader} is false from the moment when the signal aborts. The permit is kept alive until the work under the
 * term has ended. So another node leads only when this node neither claims to lead nor works.
 */
export class Candidate {
  /** Name of the semaphore: `leader:<scope>`. */
  readonly semaphore: string;
  /** The semaphore of the scope. */
  readonly own: NodeSemaphore;
  /** Emits when the leader of the scope may have changed. Completes when this node closes. */
  readonly changes = new Subject<void>();
  readonly #listeners = { gained: new Set<TermListener>(), lost: new Set<TermListener>() };
  readonly #work: PermitWork;
  readonly #closing = new AbortController();
  readonly #rest: Cooldown;
  readonly #crashed: CrashedLeaders;
  #campaign?: Promise<void>;
  #serving: Promise<unknown> = Promise.resolve();
  #term?: Term | undefined;
  /** Whom the next term was last kept for. A preference may end while the work under this term does. */
  #next?: NextHolder | undefined;
  /** Ends the present term, once. */
  #end: (reason: TermEnd, error?: Error) => void = () => undefined;

  constructor(
    readonly scope: string,
    private readonly parts: CandidateParts,
  ) {
    this.semaphore = LEADER_PREFIX + scope;
    this.own = parts.directory.of(this.semaphore);
    this.#work = new PermitWork(parts.context);
    this.#crashed = new CrashedLeaders(this.semaphore, parts.context);
    const look = () => this.own.cell.transact(() => ({ result: undefined }));
    this.#rest = new Cooldown(parts.context.nodeClock, look, () => this.#isCalled());
  }

  /** Begins to wait for the leadership. Idempotent. */
  start(): void {
    this.#campaign ??= this.#run();
  }

  /** Whether this node leads now, by its own clocks. False while it is disconnected from the store. */
  get isLeader(): boolean {
    return this.isConnected && this.#term?.isHeld === true;
  }

  /** Whether this node can reach enough members of the store. */
  get isConnected(): boolean {
    const { connected, members, quorum } = this.parts.context.store.health();
    return connected && members >= quorum;
  }

  /** The term of this node, while it leads. */
  get term(): Term | undefined {
    return this.isLeader ? this.#term : undefined;
  }

  /** Whether this node lets others go first, because it gave its term up. */
  get isResting(): boolean {
    return this.#rest.isOn;
  }

  /** Whether this node has begun to wait for the leadership. */
  get isStarted(): boolean {
    return this.#campaign !== undefined;
  }

  /** The leader's permit, as this node knows it: that of another node until it is surely over. */
  get leader(): StoredPermit | undefined {
    // A look at the semaphore would make this node watch its record.
    return this.term || !this.isStarted ? this.term?.stored : this.own.othersPermit(SLACK);
  }

  /**
   * The permit of the leader in the record, also if it looks over by this node's clock: it does so for long after the
   * members' clocks were set back. Undefined while an operator has paused the scope.
   */
  get recorded(): StoredPermit | undefined {
    const { permits = [], pause: paused } = (this.isStarted && this.own.cell.known) || {};
    return paused ? undefined : permits[0];
  }

  /** Waits until this node leads. @throws the signal's reason, or NotLeaderError when this node shuts down */
  whenLeader(signal?: AbortSignal): Promise<Term> {
    const terms = this.changes.pipe(
      startWith(undefined),
      takeUntil(signal ? abortOf(signal) : NEVER),
      map(() => this.term),
      filter((term) => term !== undefined),
      throwIfEmpty(() => (signal?.aborted ? signal.reason : new NotLeaderError(this.scope, 'closing')) as Error),
    );
    return firstValueFrom(terms);
  }

  /** Runs `work` once in each term of this node, until `signal` aborts or this node closes. Never rejects. */
  async lead(work: TermListener, signal?: AbortSignal): Promise<void> {
    for (;;) {
      // It rejects only at the end: the signal has aborted, or this node closes.
      const leading = await this.whenLeader(signal).catch(() => undefined);
      if (!leading) return;
      const term = signal ? leading.until(signal) : leading;
      await this.#work.guard('lead', term, work);
      await firstValueFrom(abortOf(term.signal));
    }
  }

  /** Runs `work` as a job if this node leads. Otherwise skips it: `not-leader`. @throws any error of `work` */
  async run<T>(job: string, work: () => T | Promise<T>): Promise<RunResult<T>> {
    if (this.term) return this.#work.job(job, this.term, work);
    const reason = 'not-leader' as const;
    this.parts.context.events.next({ type: 'run-skipped', semaphore: this.semaphore, job, reason });
    return { executed: false, reason };
  }

  /** Calls `listener` once in each term that begins (`gained`) or ends (`lost`) from now on. */
  on(kind: 'gained' | 'lost', listener: TermListener): void {
    this.#listeners[kind].add(listener);
  }

  /**
   * Ends the term of this node, and lets others go first. Waits until the permit is given back, unless the work under
   * the term calls it: the permit waits for that work.
   *
   * @returns false if this node does not lead
   */
  async resign(): Promise<boolean> {
    const term = this.#term;
    await this.untilHandedOver(async () => {
      this.#end('resigned');
      return true;
    });
    return term !== undefined;
  }

  /**
   * Asks for a handover, and waits as {@link resign} if this node leads.
   *
   * A term that did not begin to end while the request stood goes on: a later request took its place, or a grace after lost
   * data lets only this node have the permit.
   *
   * @param ask returns false if nothing changes
   * @returns false if the term of this node goes on
   */
  async untilHandedOver(ask: () => Promise<boolean>): Promise<boolean> {
    const [term, serving] = [this.#term, this.#serving];
    if (!(await ask()) || !term || isAwaitedBy(term)) return true;
    const { context, grace } = this.parts;
    await pause(context.nodeClock, grace + COOLDOWN, { signal: term.signal });
    if (!term.signal.aborted) return false;
    await serving;
    return true;
  }

  /** Call this when the record may have changed. Ends the term if the record would deny it now. */
  look(): void {
    const { permits = [], preference } = this.own.cell.known ?? {};
    this.#crashed.observe(permits[0]);
    if (preference) this.#next = nextHolderOf(preference);
    const obstacle = this.#term && this.own.denial;
    // In a grace after lost data, the holder puts its permit back.
    if (obstacle && obstacle !== 'recovering') this.#end(obstacle);
    this.#rest.check();
    this.changes.next();
  }

  /** Ends the reservation of the next term for a node that has left: until its end no other node could lead. */
  async forgo(instance: string): Promise<void> {
    const isTarget = (kept: NextHolder | undefined) => kept?.instance === instance && !kept.isExcluded;
    if (isTarget(this.#next)) this.#next = undefined;
    if (!this.isStarted || !isTarget(this.own.cell.known?.preference)) return;
    const { context } = this.parts;
    const whom: PreferenceRequest['whom'] = (_record, _holder, kept) =>
      isTarget(kept) ? { instance, isExcluded: true } : undefined;
    const ending = this.own.cell.transact(preferring(context.random.id(), { whom, duration: COOLDOWN }));
    await ending.catch(this.#problem('end the reservation of a node that has left'));
  }

  /** Ends the term, waits for the work under it, and gives the permit back. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#rest.check();
    this.#end('closing');
    await this.#campaign;
    this.changes.complete();
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const permit = await this.#acquire();
      // It may have been lost since the grant. Then no term begins.
      if (permit?.isHeld) await this.#serve(permit);
    }
  }

  async #acquire(): Promise<HeldPermit | undefined> {
    const { context } = this.parts;
    const { signal } = this.#closing;
    try {
      const permit = await this.own.acquire({ keepAlive: true, signal });
      // An operator can't allow a second permit, but a foreign program could.
      if (permit.slot === 0) return permit;
      await permit.release();
    } catch (error) {
      if (!signal.aborted && !context.isClosing()) this.#problem('take the leadership')(error);
    }
    await pause(context.nodeClock, RETRY, { signal, isAwaited: false });
    return undefined;
  }

  async #serve(permit: HeldPermit): Promise<void> {
    const ending = new AbortController();
    const term = new Term(this.scope, permit, ending.signal);
    let rest = 0;
    this.#serving = this.#work.report(LEADERSHIP_JOB, term, async () => {
      const reason = await this.#leadUntilEnd(term, permit, ending);
      const isDrained = await this.#work.drain(term, this.parts.grace);
      // If work is stuck, the others must have had their chance before this node asks again.
      const untilExpiry = isDrained ? 0 : Math.max(0, permit.lease.left) + this.parts.context.timing.clockTolerance;
      if (!isDrained || YIELDS.has(reason)) rest = untilExpiry + COOLDOWN;
      if (isDrained) await this.#giveBack(permit, reason);
      else this.#work.letExpire(permit, 'end the term', this.parts.grace);
    });
    await this.#serving;
    await this.#rest.take(rest);
  }

  /** Both callbacks of each listener run once per term. */
  async #leadUntilEnd(term: Term, permit: HeldPermit, ending: AbortController): Promise<TermEnd> {
    const { events } = this.parts.context;
    const about = { semaphore: this.semaphore, scope: this.scope, token: term.token };
    const ended = new Promise<TermEnd>((resolve) => {
      this.#end = (reason, error = new NotLeaderError(this.scope, reason)) => {
        resolve(reason);
        ending.abort(error);
      };
    });
    const lost = () => this.#end((permit.signal.reason as PermitLostError).reason, permit.signal.reason as Error);
    permit.signal.addEventListener('abort', lost, { once: true });
    // Subscribers of the events ran since the permit was seen to be held, and may have taken long.
    if (permit.signal.aborted) lost();
    [this.#term, this.#next] = [term, undefined];
    events.next({ type: 'leadership-gained', ...about });
    this.#call('gained', term);
    this.look();
    if (this.#closing.signal.aborted) this.#end('closing');
    const reason = await ended;
    this.#term = undefined;
    this.#end = () => undefined;
    events.next({ type: 'leadership-lost', ...about, reason });
    this.#call('lost', term);
    this.changes.next();
    return reason;
  }

  #call(kind: 'gained' | 'lost', term: Term): void {
    for (const listener of this.#listeners[kind]) void this.#work.guard(`leadership ${kind}`, term, listener);
  }

  /** The permit goes back whatever fails: a use that is left behind would keep it alive for ever. */
  async #giveBack(permit: HeldPermit, reason: TermEnd): Promise<void> {
    // The time in which only others, or only the target, may take the permit begins now.
    const isPreferred = reason === 'other-preferred';
    if (isPreferred)
      await this.own.renewPreference(COOLDOWN, this.#next).catch(this.#problem('shorten the preference'));
    await permit.release().catch(this.#problem('give the leadership back'));
  }

  /** Whether this node must not rest: it closes, or the next term is kept for it. */
  #isCalled(): boolean {
    const { instance, isExcluded } = this.own.cell.known?.preference ?? {};
    return this.#closing.signal.aborted || (!isExcluded && instance === this.parts.context.node.instance);
  }

  #problem(action: string): (error: unknown) => void {
    const { semaphore, parts } = this;
    return (error) => parts.context.events.next({ type: 'problem', semaphore, action, error });
  }
}

function abortOf(signal: AbortSignal) {
  return signal.aborted ? of(undefined) : fromEvent(signal, 'abort');
}

/**
 * Reports leaders of a scope that crashed. A leader that gives its permit back leaves a record without permits. So if
 * another node's permit is still in the record when this node takes the next one, it has expired.
 */
class CrashedLeaders {
  #last: StoredPermit | undefined;

  constructor(
    private readonly semaphore: string,
    private readonly context: Pick<Context, 'node' | 'events'>,
  ) {}

  /** Call this with the permit in each new version of the scope's record. */
  observe(permit: StoredPermit | undefined): void {
    const { node, events } = this.context;
    const former = this.#last;
    this.#last = permit;
    const isSuccessor = permit?.instance === node.instance && former && former.token < permit.token;
    if (isSuccessor && former.instance !== node.instance)
      events.next({ type: 'expired', semaphore: this.semaphore, permits: [former] });
  }
}
