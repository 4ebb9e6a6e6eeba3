import {
  type Expiring,
  type SemaphoreDefinition,
  type SemaphoreRecord,
  type ShardRecord,
  type StoredPermit,
  type View,
  expectRoom,
  expectShort,
  graceIn,
  isActive,
  nameIn,
  withName,
} from '../decision/index.js';
import type { Plan, Step } from './plan.js';
import type { OwnRecordClient, SemaphoreClient, SemaphorePlan } from './semaphore-records.js';
import type { ShardClient } from './shard-records.js';
import type { Shards } from './shards.js';
import { ShardsUnreadError } from './shards-unread.error.js';

/** Returned instead of a result: the name has its own record. */
const OWN = Symbol('own');
/** Returned instead of a result: this node has not read the shard, so it can't write. */
const UNREAD = Symbol('unread');

export interface Route {
  /** Whether the name is reserved for the package. Such a name always has its own record. */
  readonly isReserved: boolean;
  /** The definition of this node's code, if it has one. */
  readonly declared: () => SemaphoreDefinition | undefined;
  /** Whether a call with a duration may use the name on demand. */
  readonly mayDemand: boolean;
  /** The client of the name's own record, if this node has one. */
  readonly find: () => OwnRecordClient | undefined;
  /** The client of the name's own record; creates it if needed. */
  readonly own: () => OwnRecordClient;
  /** Makes a claimed record active again that no node maintains any more, for a call that asks for `asked` ms. */
  readonly revive: (own: OwnRecordClient, asked: number) => Promise<void>;
  /** Waits until this node has read the shards. @returns false if it has not read them in time */
  readonly awaitShards: () => Promise<boolean>;
  /** Why this node has not read the shards, if that has lasted for a while. */
  readonly whyUnread: () => string | undefined;
}

/**
 * The record of a name: its own record, or the name in its shard.
 *
 * | own record | shard                            | the record of the name                                             |
 * | ---------- | -------------------------------- | ------------------------------------------------------------------ |
 * | active     | any                              | the own record                                                     |
 * | not active | has a claim of the name          | the own record                                                     |
 * | not active | has an operator's definition     | in the shard                                                       |
 * | not active | neither, and code defines it     | in the shard, without a definition: it grants nothing before the claim |
 * | not active | neither                          | in the shard, on demand                                            |
 * | not active | was not read by this node yet    | unknown: nothing is granted or written                             |
 *
 * An active own record proves that its name was claimed. The same compare-and-set of the shard decides between a claim
 * and a grant on demand. So no two nodes use different rows while a permit lives.
 */
export class RoutedClient implements SemaphoreClient {
  constructor(
    readonly name: string,
    private readonly shards: Shards,
    private readonly route: Route,
  ) {}

  get known(): SemaphoreRecord | undefined {
    const own = this.#own();
    if (own) return own.known;
    const shard = this.shards.orEmpty(this.#shard.known);
    return shard && this.#nameIn(shard);
  }

  transact<T>(plan: SemaphorePlan<T>, asked?: number): Promise<T> {
    const own = this.#own();
    return own ? this.#transactOwn(own, plan, asked) : this.#transactSomewhere(plan, asked);
  }

  /** Finds out first which record the name has. */
  async #transactSomewhere<T>(plan: SemaphorePlan<T>, asked: number | undefined): Promise<T> {
    const isDeclared = this.route.declared() !== undefined;
    if (isDeclared) await this.route.own().look();
    if (!this.shards.isReady && !this.#own()) {
      const result = isDeclared ? await this.route.own().transact(readOnly(plan)) : UNREAD;
      if (result !== UNREAD) return result;
      // A store that can't be asked makes no shards: such a call fails within `callTimeout`, as any other.
      await this.shards.expectStore();
      if (!(await this.route.awaitShards())) {
        await this.shards.expectStore();
        throw this.#unread();
      }
      if (isDeclared) await this.route.own().look();
    }
    const own = this.#own();
    return own ? this.#transactOwn(own, plan, asked) : this.#transactInShard(plan, asked);
  }

  async #transactInShard<T>(plan: SemaphorePlan<T>, asked: number | undefined): Promise<T> {
    const result = await this.shards.transact(this.shards.keyOf(this.name), this.#planInShard(plan, asked));
    if (result === UNREAD) throw this.#unread();
    return result === OWN ? this.#transactOwn(this.route.own(), plan, asked) : result;
  }

  /**
   * Carries out a plan on the own record. A pending record may wait for a dead node; a call with a duration revives it.
   */
  #transactOwn<T>(own: OwnRecordClient, plan: SemaphorePlan<T>, asked: number | undefined): Promise<T> {
    const isStuck = asked !== undefined && this.route.mayDemand && !this.route.declared() && !isInForce(own);
    return isStuck ? this.route.revive(own, asked).then(() => own.transact(plan)) : own.transact(plan);
  }

  /** A shard that can't be read holds other names, too, so it is not replaced for one of them. */
  repair(...call: Parameters<OwnRecordClient['repair']>): Promise<boolean> {
    return this.route.own().repair(...call);
  }

  view(): View {
    return this.#current().view();
  }

  timeUntilExpiry(lease: Expiring): number {
    return this.#current().timeUntilExpiry(lease);
  }

  awaitChanges(): () => void {
    return this.#current().awaitChanges();
  }

  #current(): OwnRecordClient | ShardClient {
    return this.#own() ?? this.#shard;
  }

  /** The client of the own record, if that is the name's record. Once it is, this does not change any more. */
  #own(): OwnRecordClient | undefined {
    if (this.route.isReserved) return this.route.own();
    const own = this.route.find();
    if (own && isInForce(own)) return own;
    return this.shards.isReady && this.shards.isClaimed(this.name) ? this.route.own() : undefined;
  }

  /** Not cached: at the birth of a cluster, `Shards.forget` drops all clients. */
  get #shard(): ShardClient {
    return this.shards.ofName(this.name);
  }

  #nameIn(shard: ShardRecord, asked?: number, view?: View): SemaphoreRecord {
    const record = nameIn(shard, this.name, asked);
    const declared = this.route.declared();
    if (!declared) return record;
    // Before the claim, a duration of a call or of a permit must not make a definition. In a grace, code's definition
    // applies: holders can refresh, and others are denied as `recovering` and not as `no-definition`.
    const isInGrace = view && graceIn(shard, view);
    const definition = shard.names.get(this.name)?.definition ?? (isInGrace ? declared : undefined);
    const { definition: _, ...rest } = record;
    return definition ? { ...rest, definition } : rest;
  }

  #planInShard<T>(
    plan: SemaphorePlan<T>,
    asked: number | undefined,
  ): Plan<ShardRecord, T | typeof OWN | typeof UNREAD> {
    const { name } = this;
    return (found, view, nonce) => {
      const shard = this.shards.orEmpty(found);
      if (!shard) return { result: UNREAD };
      if (shard.claims.has(name)) return { result: OWN };
      const before = this.#nameIn(shard, this.route.mayDemand ? asked : undefined, view);
      const step = plan(before, view, nonce);
      // If code defines the name, nothing is granted here before the claim, and later the definition's duration
      // applies.
      if (!this.route.declared() || 'write' in step) expectShort(shard, name, asked);
      return inShard(step, name, (next) => {
        expectRoom(shard, name, next, view);
        for (const { duration } of extended(before, next)) expectShort(shard, name, duration);
        return withName(shard, name, before, next, view);
      });
    };
  }

  #unread(): ShardsUnreadError {
    return new ShardsUnreadError(this.name, this.route.declared() !== undefined, this.route.whyUnread());
  }
}

function isInForce({ known }: OwnRecordClient): boolean {
  return known !== undefined && isActive(known);
}

/** Permits that are new or have a longer duration than before. */
function extended(before: SemaphoreRecord, { permits }: SemaphoreRecord): StoredPermit[] {
  const durations = new Map(before.permits.map(({ id, duration }) => [id, duration]));
  return permits.filter(({ id, duration }) => duration > (durations.get(id) ?? 0));
}

/** A plan that may return a result from an active own record, but never writes. Otherwise the shard must be read. */
function readOnly<T>(plan: SemaphorePlan<T>): SemaphorePlan<T | typeof UNREAD> {
  return (record, view, nonce) => {
    if (!record || !isActive(record)) return { result: UNREAD };
    const step = plan(record, view, nonce);
    return 'result' in step ? step : { result: UNREAD };
  };
}

/** Turns a step with the record of a name into a step with its shard. */
function inShard<T>(
  step: Step<SemaphoreRecord, T>,
  name: string,
  put: (next: SemaphoreRecord) => ShardRecord,
): Step<ShardRecord, T> {
  if ('result' in step) return step;
  const { write, done, notify, isDoneIn } = step;
  return {
    write: put(write),
    done,
    notify,
    isDoneIn: isDoneIn && ((shard, isUncertain) => isDoneIn(shard && nameIn(shard, name), isUncertain)),
  };
}
