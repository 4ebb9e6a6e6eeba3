import {
  type SemaphoreRecord,
  type StoredPermit,
  type View,
  decide,
  releaseAt,
  usableDuration,
} from '../../decision/index.js';
import { UnknownOutcomeError } from '../../stores/index.js';
import type { Context } from '../../context/context.js';
import { UnknownSemaphoreError } from '../../definitions/definitions.errors.js';
import type { SemaphoreStep } from '../../records/semaphore-records.js';
import type { NodeSemaphore } from '../node-semaphore.js';
import {
  type ExternalAnswer,
  type ExternalDenial,
  type ExternalPermit,
  type ExternalRequest,
  allowedDuration,
} from './external-calls.js';

export type IsIt = (permit: StoredPermit) => boolean;

/** One look of a call at the record. */
export interface Asking {
  /** Of the permit, should it be granted. */
  readonly permitId: string;
  /** False while others wait that came before: then it gets only the permit that it has already. */
  readonly mayTake: boolean;
  /** ms since the call came: its sender counts from before that. */
  readonly waited: number;
}

/**
 * The record of one semaphore, as external clients use it.
 *
 * | request                | record has a permit of that client and holder | record has none       | in grace   |
 * | ---------------------- | --------------------------------------------- | --------------------- | ---------- |
 * | take                   | refreshed; denied while it is ending          | granted, or denied    | recovering |
 * | refresh (id and token) | refreshed, also while paused                  | permit-lost           | recovering |
 * | free (id)              | freed, at `atLeastFor` after its grant        | false                 | as before  |
 */
export class ExternalRecord {
  constructor(
    private readonly semaphore: NodeSemaphore,
    private readonly context: Context,
  ) {}

  async take(request: ExternalRequest, { permitId, mayTake, waited }: Asking): Promise<ExternalAnswer> {
    const { recordClient, orphans } = this.semaphore;
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
          isClaimable && !held && holdersOf(record, view).some((each) => isOwn(each) && each.id !== permitId);
        if (isEnding) return taken(record, view);
        const heldFor = held && this.#left(held);
        const allowed = allowedDuration(request, record?.definition, held);
        const duration = usableDuration(allowed, record?.definition, clockTolerance);
        const asked = { instance, holder, acquirer, group, permitId, nonce, held, heldFor, duration };
        const decision = decide(record, asked, view);
        if (decision.outcome === 'granted' && !mayTake) return taken(record, view);
        // Also what this very call was granted before, and finds in the record by its name.
        const isOurs = decision.outcome === 'granted' || (held !== undefined && granted.has(grantOf(held)));
        if (isOurs && decision.outcome !== 'denied') granted.add(grantOf(decision.permit));
        return this.#step(decision, waited);
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

  refresh(
    permit: ExternalPermit & { readonly token: number },
    asked: Pick<ExternalRequest, 'semaphore' | 'duration' | 'isBounded'>,
  ): Promise<ExternalAnswer> {
    return this.semaphore.recordClient.transact<ExternalAnswer>((record, view, nonce) => {
      const held = this.#held(record, (each) => isSame(each, permit) && each.token === permit.token);
      // In grace after lost data it is not certain yet that it is over.
      const reason = isInGrace(record, view) ? 'recovering' : 'permit-lost';
      if (!held) return { result: { outcome: 'denied', reason, holders: [] } };
      const { id: permitId, instance, holder, acquirer, group } = held;
      const who = { permitId, instance, holder, acquirer, group, held, heldFor: this.#left(held) };
      const duration = allowedDuration(asked, record?.definition, held);
      // A holder that refreshes is at work: a pause lets it finish.
      const request = { ...who, nonce, duration, running: true, onlyRefresh: true };
      return this.#step(decide(record, request, view));
    });
  }

  /** @returns false when it was not held any more */
  async free(isIt: IsIt, atLeastFor = 0): Promise<boolean> {
    const { name, recordClient } = this.semaphore;
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

  /** Unless another request by the same name has refreshed it since: each refresh moves its end. */
  async giveBack({ id, expiresAt }: StoredPermit): Promise<void> {
    await this.free((each) => each.id === id && each.expiresAt === expiresAt);
  }

  #giveBackLater(permit: StoredPermit): void {
    void this.giveBack(permit).catch((error: unknown) =>
      this.context.events.next({ type: 'problem', semaphore: this.semaphore.name, action: 'reclaim', error }),
    );
  }

  /**
   * The denial with the time until enough of the holders' permits are over: after an edit to fewer permits several must
   * end before one is free. By what this node has seen of them.
   */
  withEnd(denial: ExternalDenial): ExternalDenial {
    const { recordClient } = this.semaphore;
    const { permits = 0 } = recordClient.known?.definition ?? {};
    if (denial.reason !== 'no-permit' || permits === 0) return denial;
    const ends = denial.holders
      .map((permit) => recordClient.timeUntilExpiry(permit))
      .toSorted((one, other) => one - other);
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
          // The answer came after the end: no client may count on it, so a new permit goes back. One that was there
          // before may still be in use by an earlier answer: this node's clock may only have been set.
          if (outcome === 'granted') this.#giveBackLater(permit);
          return { outcome: 'denied', reason: 'permit-lost', holders: [] };
        }
        this.context.events.next({ type: outcome, semaphore: this.semaphore.name, permit });
        return { outcome: 'granted', permit, remaining: remaining + Math.floor(waited) };
      },
    };
  }

  /** A permit that is surely not over yet, whichever of the members' clocks is right. */
  #held(record: SemaphoreRecord | undefined, isIt: IsIt): StoredPermit | undefined {
    const at = this.context.clusterClock.earliest();
    return record?.permits.find((permit) => isIt(permit) && permit.expiresAt > at);
  }

  /**
   * ms for which its holder may count on it, or more, unless it is over. Not by cluster time alone: if that jumped ahead,
   * a refresh for a shorter time would end before what the holder counts on.
   */
  #left(permit: StoredPermit): number {
    const timeUntilExpiry = this.semaphore.recordClient.timeUntilExpiry(permit);
    return Math.min(permit.duration, timeUntilExpiry - this.context.timing.clockTolerance);
  }
}

/** True for the permit that an answer named. */
export function isSame(stored: StoredPermit, { id, instance }: ExternalPermit): boolean {
  return stored.id === id && stored.instance === instance;
}

function taken(record: SemaphoreRecord | undefined, view: View): SemaphoreStep<ExternalAnswer> {
  return { result: { outcome: 'denied', reason: 'no-permit', holders: holdersOf(record, view) } };
}

function holdersOf(record: SemaphoreRecord | undefined, view: View): StoredPermit[] {
  return record?.permits.filter((each) => !view.isExpired(each)) ?? [];
}

function isInGrace(record: SemaphoreRecord | undefined, view: View): boolean {
  return record?.grace !== undefined && !view.isExpired(record.grace);
}

/** A grant as one attempt wrote it. */
function grantOf({ id, token, expiresAt }: StoredPermit): string {
  return `${id} ${token} ${expiresAt}`;
}
