import { checkedName } from '../decision/index.js';
import type { Context } from '../context/context.js';
import { type OwnRecordClient, type SemaphoreChanged, semaphoreClient } from './semaphore-records.js';

interface Listener {
  changed(name: string, change: SemaphoreChanged): void;
  confirmed(name: string): void;
}

/**
 * Clients of all semaphores with their own records that this node knows: names that code defines, here or elsewhere.
 */
export class OwnRecords {
  readonly #clients = new Map<string, OwnRecordClient>();

  /** @param listener hears of each change, with the semaphore's name */
  constructor(
    private readonly context: Context,
    private readonly listener: Listener,
  ) {}

  find(name: string): OwnRecordClient | undefined {
    return this.#clients.get(name);
  }

  all(): Iterable<OwnRecordClient> {
    return [...this.#clients.values()];
  }

  /** Returns the client of a name; creates it if needed. @throws InvalidOptionsError if the name is invalid */
  of(name: string): OwnRecordClient {
    const known = this.#clients.get(name);
    if (known) return known;
    const client = semaphoreClient(checkedName(name), this.context);
    client.listen({
      changed: (change) => this.listener.changed(name, change),
      confirmed: () => this.listener.confirmed(name),
    });
    this.#clients.set(name, client);
    return client;
  }
}
