import type { EntryOf, HistoryEntry } from './history.js';

interface Grant {
  /** When it was asked for; 2 ms before the return unless given. */
  readonly asked?: number;
  readonly at: number;
  readonly slot?: number;
  readonly remaining?: number;
  readonly call?: string;
}

/** A history made by hand, of the semaphore "job". */
export class Story {
  readonly entries: HistoryEntry[] = [];
  #calls = 0;

  constructor(permits = 1) {
    this.limited(0, permits);
  }

  limited(at: number, permits: number): this {
    return this.add({ event: 'limited', at, process: 'controller', semaphore: 'job', permits });
  }

  /** Permit "p1:7" is that of process p1 with token 7. */
  granted(permit: string, { at, asked = at - 2, slot = 0, remaining = 1000, call = this.#call() }: Grant): this {
    const [process, token] = parts(permit);
    this.add({ event: 'invoked', at: asked, process, call, semaphore: 'job', verb: 'acquire' });
    return this.add({ event: 'granted', at, process, call, semaphore: 'job', permit, slot, token, remaining });
  }

  denied(process: string, at: number, asked = at - 2): this {
    const call = this.#call();
    this.add({ event: 'invoked', at: asked, process, call, semaphore: 'job', verb: 'acquire' });
    return this.add({ event: 'denied', at, process, call, semaphore: 'job', reason: 'no-permit' });
  }

  refreshed(permit: string, at: number, remaining = 1000): this {
    return this.add({ event: 'refreshed', at, process: parts(permit)[0], semaphore: 'job', permit, remaining });
  }

  released(permit: string, asked: number, at = asked + 2): this {
    const [process] = parts(permit);
    const call = this.#call();
    this.add({ event: 'invoked', at: asked, process, call, semaphore: 'job', verb: 'release', permit });
    return this.add({ event: 'released', at, process, call, semaphore: 'job', permit });
  }

  ended(permit: string, at: number, reason = 'expired'): this {
    return this.add({ event: 'ended', at, process: parts(permit)[0], semaphore: 'job', permit, reason });
  }

  woken(permit: string, at: number, look: Pick<EntryOf<'woken'>, 'callback' | 'threw' | 'aborted' | 'since'>): this {
    return this.add({ event: 'woken', at, process: parts(permit)[0], semaphore: 'job', permit, ...look });
  }

  wrote(permit: string, at: number, isApplied: boolean, slot = 0): this {
    const [process, token] = parts(permit);
    return this.add({ event: 'written', at, process, semaphore: 'job', slot, token, isApplied });
  }

  happened(event: 'killed' | 'frozen' | 'thawed', process: string, at: number): this {
    return this.add({ event, at, process });
  }

  counted(process: string, incarnation: string, at: number): this {
    return this.add({ event: 'counted', at, process, incarnation });
  }

  judged(process: string, incarnation: string, at: number): this {
    return this.add({ event: 'judged', at, process, incarnation });
  }

  stalled(process: string, since: number, at: number): this {
    return this.add({ event: 'stalled', at, process, since });
  }

  suspected(process: string, reason: string, at: number): this {
    return this.add({ event: 'suspected', at, process, reason });
  }

  fault(event: 'fault-begun' | 'fault-over', at: number): this {
    return this.add({ event, at, process: 'controller', fault: 'store' });
  }

  /** So that the history goes on until then. */
  until(at: number): this {
    return this.limited(at, (this.entries.findLast(({ event }) => event === 'limited') as EntryOf<'limited'>).permits);
  }

  add(entry: HistoryEntry): this {
    this.entries.push(entry);
    return this;
  }

  #call(): string {
    return `call-${++this.#calls}`;
  }
}

function parts(permit: string): [process: string, token: number] {
  const [process, token] = permit.split(':');
  return [process!, Number(token)];
}
