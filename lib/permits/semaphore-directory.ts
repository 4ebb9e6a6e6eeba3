import {
  InvalidOptionsError,
  type SemaphoreRecord,
  decodeRecord,
  faultsOf,
  nameSchema,
  unreserved,
} from '../decision/index.js';
import type { Pieces } from '../async/slices.js';
import type { Context } from '../context/context.js';
import { DeclaredDefinitions } from '../definitions/index.js';
import { DecodedTexts } from '../records/decoded-texts.js';
import { type SemaphoreClient, semaphoreClient } from '../records/semaphore-records.js';
import { KEY_PREFIX } from '../decision/record.js';
import { NodeSemaphore } from './node-semaphore.js';

/** All semaphores that this node knows, by name; made when first asked for. */
export class SemaphoreDirectory {
  readonly declared: DeclaredDefinitions;
  /** All records as they were last listed, or why one can't be read. */
  readonly decoded = new DecodedTexts(decodedOrFault);
  readonly #known = new Map<string, NodeSemaphore>();
  /** Semaphores in use by {@link visit} alone, with the number of their users. */
  readonly #visited = new Map<string, { readonly semaphore: NodeSemaphore; users: number }>();

  constructor(
    private readonly context: Context,
    options: ConstructorParameters<typeof DeclaredDefinitions>[2],
  ) {
    this.declared = new DeclaredDefinitions((name) => this.get(name).recordClient, context, options);
  }

  get known(): ReadonlyMap<string, NodeSemaphore> {
    return this.#known;
  }

  /** The records that this node knows, by name of the semaphore. */
  get records(): ReadonlyMap<string, SemaphoreRecord> {
    const records = [...this.#known].flatMap(([name, { recordClient }]) =>
      recordClient.known ? [[name, recordClient.known] as const] : [],
    );
    return new Map(records);
  }

  /** For the application. @throws ReservedNameError, or as {@link get} */
  offer(name: string): NodeSemaphore {
    return this.get(unreserved(name));
  }

  /**
   * Uses a semaphore whose name comes from outside, and keeps it only if the store has a record of it: made-up names
   * leave nothing in memory. Calls at one time share one semaphore, and so its queue.
   *
   * @throws as {@link get}, or whatever `work` throws
   */
  async visit<T>(name: string, work: (semaphore: NodeSemaphore) => Promise<T>): Promise<T> {
    if (this.#known.has(name)) return work(this.get(name));
    const visited = this.#visited.get(name) ?? { semaphore: this.peek(name), users: 0 };
    this.#visited.set(name, visited);
    visited.users++;
    try {
      return await work(visited.semaphore);
    } finally {
      if (--visited.users === 0) this.#visited.delete(name);
      if (visited.semaphore.recordClient.known) this.#known.set(name, visited.semaphore);
    }
  }

  /** The same for the parts that work on records alone. */
  readonly recordClients = {
    find: (name: string): SemaphoreClient | undefined => this.#known.get(name)?.recordClient,
    all: (): Iterable<SemaphoreClient> => [...this.#known.values()].map(({ recordClient }) => recordClient),
    of: (name: string): SemaphoreClient => this.get(name).recordClient,
    peek: (name: string): SemaphoreClient => this.peek(name).recordClient,
    visit: <T>(name: string, work: (recordClient: SemaphoreClient) => Promise<T>): Promise<T> =>
      this.visit(name, ({ recordClient }) => work(recordClient)),
  };

  /** How many semaphores are in memory. */
  get size(): number {
    return this.#known.size + this.#visited.size;
  }

  /** @throws InvalidOptionsError when no semaphore can have that name */
  get(name: string): NodeSemaphore {
    const semaphore = this.peek(name);
    this.#known.set(name, semaphore);
    return semaphore;
  }

  /**
   * For reading only: a semaphore that is not known yet stays unknown, or a caller who asks for one made-up name after
   * the other would fill the memory. Errors as of {@link get}.
   */
  peek(name: string): NodeSemaphore {
    const known = this.#known.get(name) ?? this.#visited.get(name)?.semaphore;
    if (known) return known;
    const parsed = nameSchema.safeParse(name);
    if (!parsed.success) throw new InvalidOptionsError("a semaphore's name", faultsOf(parsed.error));
    return new NodeSemaphore(semaphoreClient(name, this.context), this.declared, this.context);
  }
}

// A record is one piece.
// oxlint-disable-next-line require-yield
function* decodedOrFault(key: string, text: string): Pieces<SemaphoreRecord | Error> {
  try {
    return decodeRecord(key.slice(KEY_PREFIX.length), text);
  } catch (error) {
    return error as Error;
  }
}
