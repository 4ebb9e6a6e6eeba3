import { filter } from 'rxjs';
import {
  KEY_PREFIX,
  InvalidOptionsError,
  type SemaphoreRecord,
  type StoredPermit,
  type View,
  decide,
  durationFault,
  releaseAt,
  unreserved,
  usableDuration,
  quoted,
} from '../../decision/index.js';
import { UnknownOutcomeError } from '../../stores/index.js';
import type { Context } from '../../context/context.js';
import { Wakeup } from '../../async/wakeup.js';
import { UnknownSemaphoreError } from '../../definitions/definitions.errors.js';
import type { SemaphoreClient, SemaphoreStep } from '../../records/semaphore-records.js';
import type { NodeSemaphore } from '../node-semaphore.js';
import { FIRST_NAP, JITTER, untilWorthwhile, withEnd } from '../until-free.js';
import {
  type ExternalAnswer,
  type ExternalPermit,
  type ExternalRequest,
  type ExternalWait,
  allowedDuration,
} from './external-calls.js';

/**
 * Permits of external clients, which are no nodes: they ask a node, hold by their own clock, and may ask another node
 * next. Nothing is kept here between two requests: the record alone says what is true of a permit. So no node notifies
 * the holder of its end; a client that wants to keep a permit asks for a refresh in time.
 *
 * | request                | record has a permit of that client and holder | record has none              | in grace   |
 * | ---------------------- | --------------------------------------------- | ---------------------------- | ---------- |
 * | take                   | refreshed; denied while it is ending          | granted, or denied: it waits | recovering |
 * | refresh (id and token) | refreshed, also while paused                  | permit-lost                  | recovering |
 * | release (id)           | freed, at `atLeastFor` after its grant        | false                        | as before  |
 */
export class ExternalPermits {
  #isClosed = false;
  readonly #waiting = new Set<Wakeup>();

  constructor(
    private readonly visit: <T>(name: string, work: (semaphore: NodeSemaphore) => Promise<T>) => Promise<T>,
    private readonly context: Context,
  ) {}

  /** The number of requests that wait here for a permit, or are about to get one. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Takes a permit, and waits for one up to `wait` ms. Asks only when the record changed or a permit ran out.
   *
   * @throws UnknownSemaphoreError, InvalidOptionsError, the errors of a store that can't be asked, or the signal's reason
   */
  async take(request: ExternalRequest, options: ExternalWait): Promise<ExternalAnswer> {
    this.#checkDuration(request);
    options.signal.throwIfAborted();
    return this.visit(unreserved(request.semaphore), (semaphore) => this.#take(semaphore, request, options));
  }

  async #take(
    semaphore: NodeSemaphore,
    request: ExternalRequest,
    { wait, signal }: ExternalWait,
  ): Promise<ExternalAnswer> {
    const { nodeClock } = this.context;
    const began = nodeClock.monotonic();
    const { bell, end } = this.#listen(request.semaphore, wait > 0, signal);
    try {
      for (let waited = 0; ; waited = nodeClock.monotonic() - began) {
        bell.reset();
        const permitId = this.context.random.id();
        const answer = await this.#takeNow(semaphore, request, permitId, waited);
        if (answer.outcome === 'granted') {
          // A permit that was there already may still be in use by an earlier answer.
          if (answer.permit.id === permitId && signal.aborted) await this.#giveBack(request.semaphore, answer.permit);
          signal.throwIfAborted();
          return answer;
        }
        signal.throwIfAborted();
        const left = began + wait - nodeClock.monotonic();
        if (left <= 0 || this.#isClosed) return withEnd(semaphore.recordClient, answer);
        const jitter = this.context.random.number() * JITTER;
        const nap = waited === 0 ? FIRST_NAP : untilWorthwhile(semaphore.recordClient, answer);
        await bell.wait(Math.min(left, nap + jitter));
        signal.throwIfAborted();
      }
    } finally {
      end();
    }
  }

  /**
   * Lets a permit last longer. Never grants anew: a permit that is over stays so.
   *
   * @param permit with the token of its answer
   * @throws as {@link take}
   */
  async refresh(
    permit: ExternalPermit & { readonly token: number },
    options: Pick<ExternalRequest, 'duration' | 'isBounded'> = {},
  ): Promise<ExternalAnswer> {
    const asked = { ...options, semaphore: unreserved(permit.semaphore) };
    this.#checkDuration(asked);
    return this.visit(permit.semaphore, ({ recordClient }) => this.#refresh(recordClient, permit, asked));
  }

  #refresh(
    recordClient: SemaphoreClient,
    permit: ExternalPermit & { readonly token: number },
    asked: Pick<ExternalRequest, 'semaphore' | 'duration' | 'isBounded'>,
  ): Promise<ExternalAnswer> {
    return recordClient.transact<ExternalAnswer>((record, view, nonce) => {
      const held = this.#held(record, (each) => isSame(each, permit) && each.token === permit.token);
      // In grace after lost data it is not certain yet that it is over.
      const reason = isInGrace(record, view) ? 'recovering' : 'permit-lost';
      if (!held) return { result: { outcome: 'denied', reason, holders: [] } };
      const { id: permitId, instance, holder, acquirer, group } = held;
      const heldFor = this.#left(recordClient, held);
      const who = { permitId, instance, holder, acquirer, group, held, heldFor };
      const duration = allowedDuration(asked, record?.definition, held);
      // A holder that refreshes is at work: a pause lets it finish.
      const request = { ...who, nonce, duration, running: true, onlyRefresh: true };
      return this.#step(permit.semaphore, decide(record, request, view));
    });
  }

  /**
   * @param options.atLeastFor ms from its grant for which the slot stays taken, as long as the permit would have lasted at
   *   most. The end stands in the record: no node needs to live until then.
   * @returns false when it was not held any more
   */
  async release(permit: ExternalPermit, { atLeastFor = 0 }: { readonly atLeastFor?: number } = {}): Promise<boolean> {
    return this.#free(unreserved(permit.semaphore), (each) => isSame(each, permit), atLeastFor);
  }

  /** Unless another request by the same name has refreshed it since: each refresh moves its end. */
  async #giveBack(semaphore: string, { id, expiresAt }: StoredPermit): Promise<void> {
    await this.#free(semaphore, (each) => each.id === id && each.expiresAt === expiresAt);
  }

  #giveBackLater(semaphore: string, permit: StoredPermit): void {
    void this.#giveBack(semaphore, permit).catch((error: unknown) =>
      this.context.events.next({ type: 'problem', semaphore, action: 'reclaim', error }),
    );
  }

  #free(name: string, isIt: IsIt, atLeastFor = 0): Promise<boolean> {
    return this.visit(name, (semaphore) => this.#freeIn(semaphore, isIt, atLeastFor));
  }

  async #freeIn({ name, recordClient }: NodeSemaphore, isIt: IsIt, atLeastFor: number): Promise<boolean> {
    const released = await recordClient.transact<StoredPermit | undefined>((record, view, nonce) => {
      const held = record?.permits.find(isIt);
      const next = held && releaseAt(record!, held.id, held.grantedAt + atLeastFor, view, nonce);
      if (!next) return { result: undefined };
      const isDoneIn = (later: SemaphoreRecord | undefined, isUncertain: boolean) =>
        isUncertain && !later?.permits.some(isIt);
      return { notify: 'waiting', write: next, done: () => held, isDoneIn };
    });
    if (!released) return false;
    this.context.events.next({ type: 'released', semaphore: name, permit: released });
    return true;
  }

  /** Ends all waiting: they are denied as `closing`. */
  close(): void {
    this.#isClosed = true;
    for (const bell of this.#waiting) bell.ring();
  }

  async #takeNow(
    { recordClient, orphans }: NodeSemaphore,
    request: ExternalRequest,
    permitId: string,
    waited: number,
  ): Promise<ExternalAnswer> {
    if (this.#isClosed) return { outcome: 'denied', reason: 'closing', holders: [] };
    const granted = new Set<string>();
    const { instance, holder, acquirer, group = this.context.node.group } = request;
    const { clockTolerance } = this.context.timing;
    try {
      const answer = await recordClient.transact<ExternalAnswer>((record, view, nonce) => {
        const isOwn = (each: StoredPermit) => each.instance === instance && each.holder === holder;
        // In grace a name alone claims nothing: what stands there may have been given back, and granted on.
        const isClaimable = !isInGrace(record, view);
        const held = isClaimable ? this.#held(record, isOwn) : undefined;
        // Over, but not yet for others: taking it anew would give one slot to two that share a name.
        const isEnding =
          isClaimable &&
          !held &&
          record?.permits.some((each) => isOwn(each) && each.id !== permitId && !view.isExpired(each));
        const denied = { outcome: 'denied', reason: 'no-permit' } as const;
        if (isEnding)
          return { result: { ...denied, holders: record!.permits.filter((each) => !view.isExpired(each)) } };
        const heldFor = held && this.#left(recordClient, held);
        const allowed = allowedDuration(request, record?.definition, held);
        const duration = usableDuration(allowed, record?.definition, clockTolerance);
        const asked = { instance, holder, acquirer, group, permitId, nonce, held, heldFor, duration };
        const decision = decide(record, asked, view);
        // Also what this very call was granted before, and finds in the record by its name.
        const isOurs = decision.outcome === 'granted' || (held !== undefined && granted.has(grantOf(held)));
        if (isOurs && decision.outcome !== 'denied') granted.add(grantOf(decision.permit));
        return this.#step(request.semaphore, decision, waited);
      });
      if (answer.outcome === 'denied' && answer.reason === 'no-definition') {
        throw new UnknownSemaphoreError(request.semaphore);
      }
      return answer;
    } catch (error) {
      // Another request by the same name, through whatever node, may be given this very permit: it is unused only while
      // it stands as it was granted, since every refresh moves its end.
      if (error instanceof UnknownOutcomeError)
        void orphans.reclaim(permitId, request.duration, (stored) => granted.has(grantOf(stored)));
      throw error;
    }
  }

  /** @param waited ms since the request came: its sender counts from before that */
  #step(semaphore: string, decision: ReturnType<typeof decide>, waited = 0): SemaphoreStep<ExternalAnswer> {
    if (decision.outcome === 'denied') return { result: decision };
    const { outcome, permit, record } = decision;
    return {
      notify: 'none',
      write: record,
      done: (sent): ExternalAnswer => {
        const { nodeClock, timing } = this.context;
        const took = Math.max(nodeClock.monotonic() - sent.monotonic, nodeClock.wall() - sent.wall);
        const remaining = Math.floor(permit.duration - timing.clockTolerance - took);
        if (remaining <= 0) {
          // The answer came after the end: no client may count on it, so a new permit goes back. One that was there
          // before may still be in use by an earlier answer: this node's clock may only have been set.
          if (outcome === 'granted') this.#giveBackLater(semaphore, permit);
          return { outcome: 'denied', reason: 'permit-lost', holders: [] };
        }
        this.context.events.next({ type: outcome, semaphore, permit });
        return { outcome: 'granted', permit, remaining: remaining + Math.floor(waited) };
      },
    };
  }

  /** A permit that is surely not over yet, whichever of the members' clocks is right. */
  #held(record: SemaphoreRecord | undefined, isIt: (permit: StoredPermit) => boolean): StoredPermit | undefined {
    const at = this.context.clusterClock.earliest();
    return record?.permits.find((permit) => isIt(permit) && permit.expiresAt > at);
  }

  /**
   * ms for which its holder may count on it, or more, unless it is over. Not by cluster time alone: if that jumped ahead,
   * a refresh for a shorter time would end before what the holder counts on.
   */
  #left(recordClient: SemaphoreClient, permit: StoredPermit): number {
    return Math.min(permit.duration, recordClient.timeUntilExpiry(permit) - this.context.timing.clockTolerance);
  }

  /** Rings at each change of the record, and when waiting has to end. */
  #listen(name: string, isWaiting: boolean, signal: AbortSignal): { bell: Wakeup; end: () => void } {
    const bell = new Wakeup(this.context.nodeClock);
    const subscription = this.context.changes.pipe(filter((changed) => changed === name)).subscribe(bell.ring);
    this.#waiting.add(bell);
    signal.addEventListener('abort', bell.ring);
    const endWait = isWaiting ? this.context.store.awaitChanges(KEY_PREFIX + name) : undefined;
    const end = () => {
      endWait?.();
      subscription.unsubscribe();
      this.#waiting.delete(bell);
      signal.removeEventListener('abort', bell.ring);
    };
    return { bell, end };
  }

  /** @throws InvalidOptionsError */
  #checkDuration({ semaphore, duration }: Pick<ExternalRequest, 'semaphore' | 'duration'>): void {
    const fault = duration === undefined ? undefined : durationFault(duration, this.context.timing.clockTolerance);
    if (fault) throw new InvalidOptionsError(`a permit of semaphore ${quoted(semaphore)}`, [fault]);
  }
}

type IsIt = (permit: StoredPermit) => boolean;

function isInGrace(record: SemaphoreRecord | undefined, view: View): boolean {
  return record?.grace !== undefined && !view.isExpired(record.grace);
}

/** A grant as one attempt wrote it. */
function grantOf({ id, token, expiresAt }: StoredPermit): string {
  return `${id} ${token} ${expiresAt}`;
}

function isSame(stored: StoredPermit, { id, instance }: ExternalPermit): boolean {
  return stored.id === id && stored.instance === instance;
}
