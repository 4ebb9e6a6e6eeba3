import { type SemaphoreRecord, checkedName, isActive, reservedNameFault, unreserved } from '../decision/index.js';
import { promised } from '../async/promised.js';
import type { Context } from '../context/context.js';
import { DeclaredDefinitions } from './declared/declared-definitions.js';
import { DedicatedRecords } from '../cell/dedicated-records.js';
import { type Route, RoutedCell } from '../cell/routed-cell.js';
import { ShardBirth } from '../cell/shard-birth.js';
import { SemaphoreListing } from '../cell/semaphore-listing.js';
import type { SemaphoreChanged, SemaphoreCell } from '../cell/semaphore-records.js';
import { Shards } from '../cell/shards.js';
import { NodeSemaphore } from './node-semaphore.js';
import type { Semaphore } from './semaphore.js';
import { SpreadMap } from './spread-map.js';

type DirectoryOptions = Omit<ConstructorParameters<typeof DeclaredDefinitions>[3], 'awaitHistory'> & {
  readonly isOwn: boolean;
  readonly shards?: number | undefined;
  /** ms between two looks at the shards' root. */
  readonly sweepInterval: number;
  /** ms for which a birth of the cluster is announced. */
  readonly announcement: number;
  /** Whether this process lives for a moment, as a command does. */
  readonly isTransient: boolean;
};

/** Names on demand that are remembered. Code that makes names up must not fill the memory. */
const MOST_DEMANDED = 200;

/** The semaphores of this node, and what it needs to find their records. {@link NodeSemaphore} says which it remembers. */
export class SemaphoreDirectory {
  readonly declared: DeclaredDefinitions;
  readonly own: DedicatedRecords;
  readonly shards: Shards;
  readonly birth: ShardBirth;
  readonly listing: SemaphoreListing;
  readonly #inUse = new SpreadMap<NodeSemaphore>();
  readonly #demanded = new Set<string>();
  readonly #route: Route = {
    isReserved: (name) => reservedNameFault(name) !== undefined,
    declared: (name) => this.declared.get(name),
    mayDemand: (name) => this.declared.mayDemand(name),
    find: (name) => this.own.find(name),
    own: (name) => this.own.of(name),
    revive: (own, asked) => this.declared.revive(own, asked),
    awaitShards: () => this.birth.need().then(() => this.declared.awaitShards()),
    isBirthUnderWay: () => this.birth.isUnderWay,
    isBeforeBirth: () => this.birth.isBefore(),
    whyUnread: () => this.birth.fault?.sentence,
  };

  constructor(
    private readonly context: Context,
    options: DirectoryOptions,
  ) {
    const changed = (name: string, change: SemaphoreChanged) => this.#inUse.get(name)?.onChange(change);
    this.own = new DedicatedRecords(context, {
      changed,
      confirmed: (name) => this.#inUse.get(name)?.heldLeases.verify(),
    });
    const { isOwn, shards } = options;
    this.shards = new Shards(context, {
      isOwn,
      ...(shards && { shards }),
      awaitsArchive: options.archived !== undefined,
      nameChanged: changed,
    });
    const { announcement: patience, sweepInterval: interval, isTransient } = options;
    this.birth = new ShardBirth(this.shards, context, { patience, interval, isTransient });
    const awaitHistory = (timeout: number) => this.birth.wait(timeout);
    this.declared = new DeclaredDefinitions(this.own, this.shards, context, { ...options, awaitHistory });
    this.listing = new SemaphoreListing(this.own, this.shards, context);
  }

  /** Semaphores with leases, calls or clean-ups in progress, and those that code defines, after their first use. */
  get inUse(): Omit<SpreadMap<NodeSemaphore>, 'set' | 'delete'> {
    return this.#inUse;
  }

  /** The first names that code of the application used without a definition in it. */
  get demanded(): ReadonlySet<string> {
    return this.#demanded;
  }

  /** Number of semaphores in memory. */
  get size(): number {
    return this.#inUse.size;
  }

  /** All records that this node knows, by the semaphore's name, without names on demand that only exist because of a permit. */
  get definedRecords(): ReadonlyMap<string, SemaphoreRecord> {
    const records = new Map(this.shards.definedNames());
    for (const { name, known } of this.own.all()) if (known && isActive(known)) records.set(name, known);
    return records;
  }

  /** A semaphore for the application. @throws ReservedNameError, InvalidOptionsError */
  offer(name: string): Semaphore {
    const semaphore = this.of(unreserved(name));
    if (this.#demanded.size < MOST_DEMANDED && !this.declared.has(semaphore.name)) this.#demanded.add(semaphore.name);
    return semaphore;
  }

  /**
   * The semaphore of a name. It stays in memory only while it is in use. Callers in JavaScript may pass any value.
   *
   * @throws InvalidOptionsError if the name is invalid
   */
  of(name: string): NodeSemaphore {
    return (typeof name === 'string' && this.#inUse.get(name)) || this.#create(checkedName(name));
  }

  /** For parts that only need the record: `peek` for reading, `visit` for a call, in which the semaphore is in use. */
  readonly cells = {
    peek: (name: string): SemaphoreCell => this.of(name).cell,
    visit: <T>(name: string, work: (cell: SemaphoreCell) => Promise<T>): Promise<T> =>
      promised(() => this.of(name).use(({ cell }) => work(cell))),
  };

  /** Verifies the leases of all semaphores in use, because this node may have missed a revocation or a loss. */
  verify(): void {
    for (const { heldLeases } of this.#inUse.values()) heldLeases.verify();
  }

  #create(name: string): NodeSemaphore {
    return new NodeSemaphore(new RoutedCell(name, this.shards, this.#route), this.declared, this.context, this.#inUse);
  }
}
