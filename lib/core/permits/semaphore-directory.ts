import { type SemaphoreRecord, checkedName, isActive, reservedNameFault, unreserved } from '../decision/index.js';
import { promised } from '../async/promised.js';
import type { Context } from '../context/context.js';
import { DeclaredDefinitions } from './declared/declared-definitions.js';
import { OwnRecords } from '../cell/own-records.js';
import { type Route, RoutedCell } from '../cell/routed-cell.js';
import { ShardBirth } from '../cell/shard-birth.js';
import { SemaphoreListing } from '../cell/semaphore-listing.js';
import type { SemaphoreChanged, SemaphoreCell } from '../cell/semaphore-records.js';
import { Shards } from '../cell/shards.js';
import { NodeSemaphore } from './node-semaphore.js';
import type { AcquireOptions, AcquireWaitOptions, RunOptions } from './call-options.js';
import type { Explanation } from './explanation.js';
import type { Permit } from './permit.js';
import type { RunPermit } from './runs/run-permit.js';
import type { RunResult } from './runs/runner.js';
import { PermitMethods, type Semaphore } from './semaphore.js';
import { SpreadMap } from './spread-map.js';

type DirectoryOptions = Omit<ConstructorParameters<typeof DeclaredDefinitions>[3], 'awaitHistory'> & {
  readonly isOwn: boolean;
  readonly shards?: number | undefined;
  /** ms between two looks at the shards' root. */
  readonly sweepInterval: number;
  /** ms for which a birth of the cluster is announced. */
  readonly announcement: number;
};

/** Names on demand that are remembered. Code that makes names up must not fill the memory. */
const MOST_DEMANDED = 200;

/**
 * The semaphores that this node uses, at most one object per name: a second object would not know the leases of the
 * first. A semaphore that code defines stays in memory. All others are forgotten after their last call, lease and
 * clean-up.
 */
export class SemaphoreDirectory {
  readonly declared: DeclaredDefinitions;
  readonly own: OwnRecords;
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
    awaitShards: () => this.declared.awaitShards(),
    whyUnread: () => this.birth.fault?.sentence,
  };

  constructor(
    private readonly context: Context,
    options: DirectoryOptions,
  ) {
    const changed = (name: string, change: SemaphoreChanged) => this.#inUse.get(name)?.onChange(change);
    this.own = new OwnRecords(context, { changed, confirmed: (name) => this.#inUse.get(name)?.verify() });
    const { isOwn, shards } = options;
    this.shards = new Shards(context, {
      isOwn,
      ...(shards && { shards }),
      awaitsArchive: options.archived !== undefined,
      nameChanged: changed,
    });
    const { announcement: patience, sweepInterval: interval } = options;
    this.birth = new ShardBirth(this.shards, context, { patience, interval });
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

  /** The handle of a semaphore, for the application. @throws ReservedNameError, InvalidOptionsError */
  offer(name: string): Semaphore {
    const free = unreserved(name);
    const handle = new SemaphoreHandle(this.#find(free) ? free : checkedName(free), this);
    if (this.#demanded.size < MOST_DEMANDED && !this.declared.has(free)) this.#demanded.add(free);
    return handle;
  }

  /**
   * Runs `work` with a semaphore. Concurrent calls share one object, and so its queue and its leases.
   *
   * @throws InvalidOptionsError if the name is invalid, or any error of `work`
   */
  visit<T>(name: string, work: (semaphore: NodeSemaphore) => Promise<T>): Promise<T> {
    return promised(() => {
      const semaphore = this.#find(name) ?? this.#keep(name);
      return semaphore.uses.during(() => work(semaphore));
    });
  }

  /** A semaphore for reading only; nothing is kept in memory. @throws InvalidOptionsError if the name is invalid */
  peek(name: string): NodeSemaphore {
    return this.#find(name) ?? this.#create(checkedName(name));
  }

  /** The semaphore of a name, if it is in use. Callers in JavaScript may pass any value: {@link checkedName} reports it. */
  #find(name: unknown): NodeSemaphore | undefined {
    return typeof name === 'string' ? this.#inUse.get(name) : undefined;
  }

  /** {@link peek} and {@link visit} for parts that only need the record. */
  readonly cells = {
    peek: (name: string): SemaphoreCell => this.peek(name).cell,
    visit: <T>(name: string, work: (cell: SemaphoreCell) => Promise<T>): Promise<T> =>
      this.visit(name, ({ cell }) => work(cell)),
  };

  /** Verifies the leases of all semaphores in use, because this node may have missed a revocation or a loss. */
  verify(): void {
    for (const semaphore of this.#inUse.values()) semaphore.verify();
  }

  #keep(name: string): NodeSemaphore {
    const semaphore = this.#create(checkedName(name));
    this.#inUse.set(name, semaphore);
    return semaphore;
  }

  #create(name: string): NodeSemaphore {
    const cell = new RoutedCell(name, this.shards, this.#route);
    const forget = () => {
      if (!this.declared.has(name) && this.#inUse.get(name) === semaphore) this.#inUse.delete(name);
    };
    const semaphore = new NodeSemaphore(cell, this.declared, this.context, forget);
    return semaphore;
  }
}

/**
 * A semaphore for the application, which may keep this handle for any time. Each call looks up the semaphore in use. With
 * two objects of one name, one would not know the leases of the other. One object per name for ever would fill memory.
 */
class SemaphoreHandle extends PermitMethods implements Semaphore {
  constructor(
    readonly name: string,
    private readonly directory: SemaphoreDirectory,
  ) {
    super();
  }

  tryAcquire(options?: AcquireOptions): Promise<Permit | undefined> {
    return this.directory.visit(this.name, (semaphore) => semaphore.tryAcquire(options));
  }

  acquire(options?: AcquireWaitOptions): Promise<Permit> {
    return this.directory.visit(this.name, (semaphore) => semaphore.acquire(options));
  }

  run<T>(work: (permit: RunPermit) => T | Promise<T>, options?: RunOptions): Promise<RunResult<T>> {
    return this.directory.visit(this.name, (semaphore) => semaphore.run(work, options));
  }

  explain(): Promise<Explanation> {
    return this.directory.peek(this.name).explain();
  }
}
