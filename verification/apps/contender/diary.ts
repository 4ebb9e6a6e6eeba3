import { Injectable } from '@nestjs/common';
import { GatekeeperService, type PermitLostError } from 'nestjs-gatekeeper';
import { say } from '../say.js';

/** Part of a permit that the diary needs; permits of `acquire` and of guarded runs both have it. */
export interface NotedPermit {
  readonly semaphore: string;
  readonly id: string;
  readonly slot: number;
  readonly token: number;
  readonly remaining: number;
  readonly signal: AbortSignal;
}

/**
 * Tells the history of this process as it sees it (verification/proof/history/history.ts): each call before it leaves and as soon as
 * it is answered, and what a permit says of itself at that very moment.
 */
@Injectable()
export class Diary {
  readonly #held = new Map<string, NotedPermit>();
  #calls = 0;

  constructor(gatekeeper: GatekeeperService) {
    gatekeeper.events$.subscribe((event) => {
      if (event.type === 'refreshed') this.#refreshedByItself(event.permit.id);
      if (event.type === 'clock-suspect') report({ event: 'suspected', reason: event.reason });
    });
  }

  /** @returns the call, to be named in its answer */
  invoked(verb: 'acquire' | 'refresh' | 'release', semaphore: string, permit?: Pick<NotedPermit, 'id'>): string {
    const call = `${process.pid}-${++this.#calls}`;
    if (permit && verb === 'release') this.#held.delete(permit.id);
    report({ event: 'invoked', call, verb, semaphore, permit: permit?.id });
    return call;
  }

  granted(call: string, permit: NotedPermit): void {
    const { remaining, semaphore, id, slot, token, signal } = permit;
    report({ event: 'granted', call, semaphore, permit: id, slot, token, remaining });
    this.#held.set(id, permit);
    const ended = () => {
      this.#held.delete(id);
      report({ event: 'ended', semaphore, permit: id, reason: (signal.reason as PermitLostError).reason });
    };
    if (signal.aborted) ended();
    else signal.addEventListener('abort', ended);
  }

  /** A claim begins: the ownership of a resource, as a permit. Its signal is not its end: work may go on after it. */
  claimed(claim: Omit<NotedPermit, 'signal'>): void {
    const { remaining, semaphore, id, slot, token } = claim;
    const call = this.invoked('acquire', semaphore);
    report({ event: 'granted', call, semaphore, permit: id, slot, token, remaining });
  }

  /** The lease of a claim was renewed. */
  renewed({ remaining, semaphore, id }: Pick<NotedPermit, 'remaining' | 'semaphore' | 'id'>): void {
    report({ event: 'refreshed', semaphore, permit: id, remaining });
  }

  /** The lease of a claim lapsed. */
  lapsed({ semaphore, id }: Pick<NotedPermit, 'semaphore' | 'id'>): void {
    report({ event: 'ended', semaphore, permit: id, reason: 'expired' });
  }

  refreshed(call: string, { remaining, semaphore, id }: NotedPermit): void {
    report({ event: 'refreshed', call, semaphore, permit: id, remaining });
  }

  released(call: string, { semaphore, id }: Pick<NotedPermit, 'semaphore' | 'id'>): void {
    report({ event: 'released', call, semaphore, permit: id });
  }

  denied(call: string, semaphore: string, reason: string): void {
    report({ event: 'denied', call, semaphore, reason });
  }

  failed(call: string, semaphore: string, error: unknown): void {
    report({ event: 'failed', call, semaphore, error: String(error) });
  }

  woken(callback: 'io' | 'timer' | 'after-timers', { semaphore, id }: NotedPermit, found: object): void {
    report({ event: 'woken', semaphore, permit: id, callback, ...found });
  }

  /** Now this process counts on its membership lease. */
  counted(incarnation: string): void {
    report({ event: 'counted', incarnation });
  }

  /** This process says that the membership lease of another one is over. */
  judged(incarnation: string): void {
    report({ event: 'judged', incarnation });
  }

  stalled(since: number): void {
    report({ event: 'stalled', since });
  }

  #refreshedByItself(id: string): void {
    const permit = this.#held.get(id);
    if (permit) this.renewed(permit);
  }
}

/** Under one name of its own: the gatekeeper's own events, which the app reports too, have some of the same names. */
const report = (entry: object): void => say('history', { entry });
