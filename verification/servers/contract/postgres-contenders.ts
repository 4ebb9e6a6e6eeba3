import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  Gatekeeper,
  type GatekeeperEvent,
  type Permit,
  type StoreDefinition,
  parseGatekeeperOptions,
} from 'nestjs-gatekeeper';
import type { HistoryEntry } from '../../proof/history/history.js';

export const SEMAPHORE = 'contended';

/** An entry without the fields that are the same for all entries of one contender. */
type Noted<E = HistoryEntry> = E extends HistoryEntry ? Omit<E, 'at' | 'process'> : never;

const SILENT = { log: () => {}, error: () => {}, debug: () => {}, warn: () => {} };

/** A node that takes and releases permits of one semaphore all the time, and notes what it sees. */
export class Contender {
  readonly #process = randomUUID();
  readonly #node: Gatekeeper;
  readonly #ending = new AbortController();
  readonly #held = new Map<string, Permit>();
  #working: Promise<unknown> = Promise.resolve();
  grants = 0;

  constructor(
    store: StoreDefinition,
    permits: number,
    private readonly history: HistoryEntry[],
  ) {
    const definitions = [{ name: SEMAPHORE, permits, duration: '2s' }];
    const options = { store, definitions, definitionsDelay: 0, callTimeout: 1000, clockTolerance: 300 };
    this.#node = new Gatekeeper(parseGatekeeperOptions(options), SILENT);
    this.#node.events$.subscribe((event) => this.#listen(event));
  }

  async start(): Promise<void> {
    await this.#node.start();
    this.#working = Promise.all(Array.from({ length: 2 }, () => this.#work()));
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#working;
    await this.#node.close();
  }

  async #work(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      await this.#take();
      await pause(5 + Math.random() * 30);
    }
  }

  async #take(): Promise<void> {
    const call = this.#invoked('acquire');
    const permit = await this.#node.tryAcquire(SEMAPHORE, { keepAlive: true }).catch((error: Error) => {
      this.#note({ event: 'failed', call, semaphore: SEMAPHORE, error: error.name });
    });
    if (permit === undefined) return;
    if (permit === null) return this.#note({ event: 'denied', call, semaphore: SEMAPHORE, reason: 'no-permit' });
    this.#granted(call, permit);
    await pause(Math.random() * 150);
    await this.#release(permit);
  }

  #granted(call: string, permit: Permit): void {
    const { id, slot, token, remaining, signal } = permit;
    this.#note({ event: 'granted', call, semaphore: SEMAPHORE, permit: id, slot, token, remaining });
    this.grants++;
    this.#held.set(id, permit);
    const ended = () => this.#note({ event: 'ended', semaphore: SEMAPHORE, permit: id, reason: 'lost' });
    signal.addEventListener('abort', () => this.#held.delete(id) && ended());
  }

  async #release(permit: Permit): Promise<void> {
    const { id } = permit;
    const call = this.#invoked('release', id);
    this.#held.delete(id);
    await permit.release().then(
      () => this.#note({ event: 'released', call, semaphore: SEMAPHORE, permit: id }),
      (error: Error) => this.#note({ event: 'failed', call, semaphore: SEMAPHORE, error: error.name }),
    );
  }

  #invoked(verb: 'acquire' | 'release', permit?: string): string {
    const call = randomUUID();
    this.#note({ event: 'invoked', call, verb, semaphore: SEMAPHORE, ...(permit && { permit }) });
    return call;
  }

  #listen(event: GatekeeperEvent): void {
    if (event.type !== 'refreshed') return;
    const permit = this.#held.get(event.permit.id);
    if (permit)
      this.#note({ event: 'refreshed', semaphore: SEMAPHORE, permit: permit.id, remaining: permit.remaining });
  }

  #note(entry: Noted): void {
    this.history.push({ at: performance.now(), process: this.#process, ...entry } as HistoryEntry);
  }
}
