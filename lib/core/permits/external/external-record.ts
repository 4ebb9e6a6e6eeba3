import {
  type SemaphoreRecord,
  type StoredPermit,
  type View,
  decide,
  graceIn,
  holdersIn,
  releaseAt,
  usableDuration,
} from '../../decision/index.js';
import { UnknownOutcomeError } from '../../store/index.js';
import type { Context } from '../../context/context.js';
import { UnknownSemaphoreError } from '../permits.errors.js';
import type { SemaphoreStep } from '../../cell/semaphore-records.js';
import type { NodeSemaphore } from '../node-semaphore.js';
import {
  type ExternalAnswer,
  type ExternalDenial,
  type ExternalPermit,
  type ExternalRequest,
  allowedDuration,
} from './external-calls.js';

type IsIt = (permit: StoredPermit) => boolean;

/** One attempt of a call. */
export interface Asking {
  /** Id of the permit, if one is granted. */
  readonly permitId: string;
  /** False while earlier calls wait. Then the call gets no new permit, only the one that it already has. */
  readonly mayTake: boolean;
  /** ms since the call arrived. The client counts from an earlier moment. */
  readonly waited: number;
  /** Aborts when the client has gone away. Then a new permit goes back. */
  readonly signal?: AbortSignal;
}

/** A duration alone defines nothing here: only nodes use names on demand. */
const ADVICE = 'define it, or give a definition with the call, which needs the role define';

/**
 * External clients' operations on the record of one semaphore.
 *
 * | request                | record has a permit of that client and holder | record has none       | in grace   |
 * | ---------------------- | --------------------------------------------- | --------------------- | ---------- |
 * | take                   | refreshed; denied while it is ending          | granted, or denied    | recovering |
 * | refresh                | refreshed, also while paused                  | permit-lost           | recovering |
 * | free                   | freed, at `atLeastFor` after its grant        | false                 | as before  |
 */
export class ExternalRecord {
  constructor(
    private readonly semaphore: NodeSemaphore,
    private readonly context: Context,
  ) {}

  async take(request: ExternalRequest, { permitId, mayTake, waited, signal }: Asking): Promise<ExternalAnswer> {
    let isNew = false;
    const { cell, heldLeases } = this.semaphore;
    const granted = new Set<string>();
    const { instance, holder, acquirer, group = this.context.node.group } = request;
    const { clockTolerance } = this.context.timing;
    // Another request with the same name, on any node, may get this permit too. The permit is unused only while it is as
    // this call wrote it, because every refresh changes its end.
    const unclear = () =>
      heldLeases.orphans.reclaim(permitId, request.duration, (stored) => granted.has(grantOf(stored)));
    try {
      const answer = await cell.transact<ExternalAnswer>((record, view, nonce) => {
        const isOwn = (each: StoredPermit) => each.instance === instance && each.holder === holder;
        // In a grace, a name does not prove that its client holds the permit: before the loss it may have been
        // released, and its slot granted to another client.
        const isClaimable = !graceIn(record, view);
        const held = isClaimable ? this.#held(record, isOwn) : undefined;
        // The permit is over for its holder, but not yet for takers. A new grant could give one slot to two clients
        // that use the same name.
        const isEnding =
          isClaimable && !held && holdersIn(record, view).some((each) => isOwn(each) && each.id !== permitId);
        if (isEnding) return { ...taken(record, view), unclear };
        const heldFor = held && this.#left(held);
        const allowed = allowedDuration(request, record?.definition, held);
        const duration = usableDuration(allowed, record?.definition, clockTolerance);
        const asked = { instance, holder, acquirer, group, permitId, nonce, held, heldFor, duration };
        const decision = decide(record, asked, view);
        if (decision.outcome === 'granted' && !mayTake) return { ...taken(record, view), unclear };
        // Includes a permit that an earlier attempt of this call was granted, and that is now found by its name.
        const isOurs = decision.outcome === 'granted' || (held !== undefined && granted.has(grantOf(held)));
        if (isOurs && decision.outcome !== 'denied') granted.add(grantOf(decision.permit));
        const step = this.#step(decision, waited);
        if ('result' in step) return { ...step, unclear };
        const done: typeof step.done = (sent) => {
          isNew = isOurs;
          return step.done(sent);
        };
        return { ...step, done };
      });
      if (answer.outcome === 'denied' && answer.reason === 'no-definition') {
        throw new UnknownSemaphoreError(request.semaphore, ADVICE);
      }
      // A permit that another request with the same name has refreshed meanwhile stays: its client uses it.
      if (signal?.aborted && isNew && answer.outcome === 'granted') await this.giveBack(answer.permit);
      return answer;
    } catch (error) {
      if (error instanceof UnknownOutcomeError) unclear();
      throw error;
    }
  }

  refresh(isIt: IsIt, asked: Pick<ExternalRequest, 'semaphore' | 'duration' | 'isBounded'>): Promise<ExternalAnswer> {
    return this.semaphore.cell.transact<ExternalAnswer>((record, view, nonce) => {
      const held = this.#held(record, isIt);
      // In a grace it is not yet certain that the permit is lost.
      const reason = graceIn(record, view) ? 'recovering' : 'permit-lost';
      if (!held) return { result: { outcome: 'denied', reason, holders: [] } };
      const { id: permitId, instance, holder, acquirer, group } = held;
      const who = { permitId, instance, holder, acquirer, group, held, heldFor: this.#left(held) };
      const duration = allowedDuration(asked, record?.definition, held);
      // A holder that refreshes still works. It may finish although the semaphore is paused.
      const request = { ...who, nonce, duration, running: true, onlyRefresh: true };
      return this.#step(decide(record, request, view));
    });
  }

  /** Frees a permit. @returns false if it was no longer held */
  async free(isIt: IsIt, atLeastFor = 0): Promise<boolean> {
    const { name, cell } = this.semaphore;
    const released = await cell.transact<StoredPermit | undefined>((record, view, nonce) => {
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

  /** Frees a permit, unless another request with the same name has refreshed it: every refresh changes its end. */
  async giveBack(permit: StoredPermit): Promise<void> {
    await this.free((each) => grantOf(each) === grantOf(permit));
  }

  #giveBackLater(permit: StoredPermit): void {
    void this.giveBack(permit).catch((error: unknown) =>
      this.context.events.next({ type: 'problem', semaphore: this.semaphore.name, action: 'reclaim', error }),
    );
  }

  /**
   * Adds the time until a permit is free, as far as this node knows. After an edit to fewer permits, several permits
   * must end before one is free.
   */
  withEnd(denial: ExternalDenial): ExternalDenial {
    const { cell } = this.semaphore;
    const { permits = 0 } = cell.known?.definition ?? {};
    if (denial.reason !== 'no-permit' || permits === 0) return denial;
    const ends = denial.holders.map((permit) => cell.timeUntilExpiry(permit)).toSorted((one, other) => one - other);
    const freeIn = ends[Math.max(0, ends.length - permits)] ?? Infinity;
    return Number.isFinite(freeIn) ? { ...denial, freeIn: Math.max(1, Math.ceil(freeIn)) } : denial;
  }

  #step(decision: ReturnType<typeof decide>, waited = 0): SemaphoreStep<ExternalAnswer> {
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
          // The answer came after the permit's end, so the client must not rely on it, and a new permit goes back. An
          // older permit stays: the client may use it because of an earlier answer, and perhaps only this node's clock
          // was set.
          if (outcome === 'granted') this.#giveBackLater(permit);
          return { outcome: 'denied', reason: 'permit-lost', holders: [] };
        }
        this.context.events.next({ type: outcome, semaphore: this.semaphore.name, permit });
        return { outcome: 'granted', permit, remaining: remaining + Math.floor(waited) };
      },
    };
  }

  /**
   * Finds a permit by `isIt`, if it has ended neither by the lowest of the members' clocks nor as its holder counts: no
   * taker can have its slot.
   */
  #held(record: SemaphoreRecord | undefined, isIt: IsIt): StoredPermit | undefined {
    const at = this.context.clusterClock.earliest();
    return record?.permits.find((permit) => isIt(permit) && permit.expiresAt > at && this.#left(permit) > 0);
  }

  /**
   * Upper bound of the time for which the holder of a living permit may rely on it, in ms. Does not use cluster time
   * alone: if that jumped ahead, a refresh with a shorter duration would end before the holder expects it.
   */
  #left(permit: StoredPermit): number {
    const timeUntilExpiry = this.semaphore.cell.timeUntilExpiry(permit);
    return Math.min(permit.duration, timeUntilExpiry - this.context.timing.clockTolerance);
  }
}

/** Whether a stored permit is the one that an answer granted. */
export function isSame(stored: StoredPermit, { id, instance }: ExternalPermit): boolean {
  return stored.id === id && stored.instance === instance;
}

function taken(record: SemaphoreRecord | undefined, view: View): SemaphoreStep<ExternalAnswer> {
  return { result: { outcome: 'denied', reason: 'no-permit', holders: holdersIn(record, view) } };
}

/** Identifies a permit in the state in which one attempt wrote it. */
function grantOf({ id, token, expiresAt, nonce = '' }: StoredPermit): string {
  return `${id} ${token} ${expiresAt} ${nonce}`;
}
