import { InvalidOptionsError, faultsOf, nameSchema } from '../decision/index.js';
import type { Context } from '../context/context.js';
import { type OwnRecordClient, type SemaphoreChanged, semaphoreClient } from './semaphore-records.js';

interface Listener {
  changed(name: string, change: SemaphoreChanged): void;
  confirmed(name: string): void;
}

/** The semaphores with a record of their own that this node knows: those that code defines, here or elsewhere. */
export class OwnRecords {
  readonly #clients = new Map<string, OwnRecordClient>();

  /** @param listener notifies the semaphore of a name, if this node uses it */
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

  /** Makes one when there is none, and remembers it. @throws InvalidOptionsError when nothing can have that name */
  of(name: string): OwnRecordClient {
    const known = this.#clients.get(name);
    if (known) return known;
    const parsed = nameSchema.safeParse(name);
    if (!parsed.success) throw new InvalidOptionsError("a semaphore's name", faultsOf(parsed.error));
    const client = semaphoreClient(name, this.context);
    client.listen({
      changed: (change) => this.listener.changed(name, change),
      confirmed: () => this.listener.confirmed(name),
    });
    this.#clients.set(name, client);
    return client;
  }
}
