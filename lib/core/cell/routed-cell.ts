import {
  type Expiring,
  LONGEST_ON_DEMAND,
  type SemaphoreDefinition,
  type SemaphoreRecord,
  type ShardRecord,
  type View,
  expectRoom,
  expectShort,
  graceIn,
  isActive,
  nameIn,
  withName,
} from '../decision/index.js';
import type { Plan, Step } from './plan.js';
import type { DedicatedCell, SemaphoreCell, SemaphorePlan } from './semaphore-records.js';
import type { ShardCell } from './shard-records.js';
import type { Shards } from './shards.js';
import { ShardsUnreadError } from './shards-unread.error.js';

/** Returned instead of a result: the name has its own record. */
const OWN = Symbol('own');
/** Returned instead of a result: this node has not read the shard, so it can't write. */
const UNREAD = Symbol('unread');

/** The node's part in finding the record of a name. All cells of a node share one such object. */
export interface Route {
  /** Whether a name is reserved for the package. Such a name always has its own record. */
  readonly isReserved: (name: string) => boolean;
  /** The definition of this node's code, if it has one. */
  readonly declared: (name: string) => SemaphoreDefinition | undefined;
  /** Whether a call with a duration may use a name on demand. */
  readonly mayDemand: (name: string) => boolean;
  /** The cell of a name's own record, if this node has one. */
  readonly find: (name: string) => DedicatedCell | undefined;
  /** The cell of a name's own record; creates it if needed. */
  readonly own: (name: string) => DedicatedCell;
  /** Makes a claimed record active again that no node maintains any more, for a call that asks for `asked` ms. */
  readonly revive: (own: DedicatedCell, asked: number) => Promise<void>;
  /** Waits until this node has read the shards. @returns false if it has not read them in time */
  readonly awaitShards: () => Promise<boolean>;
  /** Whether the shards are being made now, by this node or by another one. */
  readonly isBirthUnderWay: () => boolean;
  /** Whether this process is transient, and no node has made the shards yet. Then a name without a record is free. */
  readonly isBeforeBirth: () => Promise<boolean>;
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
export class RoutedCell implements SemaphoreCell {
  readonly #isReserved: boolean;
  readonly #mayDemand: boolean;
  /** Key of the name's shard, as in {@link Shards.keys}. */
  readonly #shardKey: string;

  constructor(
    readonly name: string,
    private readonly shards: Shards,
    private readonly route: Route,
  ) {
    this.#isReserved = route.isReserved(name);
    this.#mayDemand = route.mayDemand(name);
    this.#shardKey = shards.keyOf(name);
  }

  get known(): SemaphoreRecord | undefined {
    const own = this.#own();
    if (own) return own.known;
    const shard = this.shards.orEmpty(this.#shard.known);
    return shard && this.#nameIn(shard);
  }

  transact<T>(plan: SemaphorePlan<T>, asked?: number): Promise<T> {
    const own = this.#own();
    if (own) return this.#transactOwn(own, plan, asked);
    // The usual case of a name on demand: its record is in the shard, so there is nothing to wait for.
    const isOnDemand = this.shards.isReady && this.route.declared(this.name) === undefined;
    return isOnDemand ? this.#transactInShard(plan, asked) : this.#transactSomewhere(plan, asked);
  }

  /** Finds out first which record the name has. */
  async #transactSomewhere<T>(plan: SemaphorePlan<T>, asked: number | undefined): Promise<T> {
    const isDeclared = this.route.declared(this.name) !== undefined;
    if (isDeclared) await this.route.own(this.name).look();
    if (!this.shards.isReady && !this.#own()) {
      const readable = isDeclared
        ? ifActive(plan)
        : (await this.route.isBeforeBirth())
          ? withoutWrite(plan)
          : undefined;
      const result = readable ? await this.route.own(this.name).transact(readable) : UNREAD;
      if (result !== UNREAD) return result;
      // A store that can't be asked makes no shards: such a call fails within `callTimeout`, as any other.
      await this.shards.expectStore();
      // A slow store takes its time for the shards: a call waits on while a node makes them.
      while (!(await this.route.awaitShards())) {
        await this.shards.expectStore();
        // They may have become ready meanwhile.
        if (this.shards.isReady) break;
        if (!this.route.isBirthUnderWay()) throw this.#unread();
      }
      if (isDeclared) await this.route.own(this.name).look();
    }
    const own = this.#own();
    return own ? this.#transactOwn(own, plan, asked) : this.#transactInShard(plan, asked);
  }

  #transactInShard<T>(plan: SemaphorePlan<T>, asked: number | undefined): Promise<T> {
    return this.shards.transact(this.#shardKey, this.#planInShard(plan, asked)).then((result) => {
      if (result === UNREAD) throw this.#unread();
      return result === OWN ? this.#transactOwn(this.route.own(this.name), plan, asked) : result;
    });
  }

  /**
   * Carries out a plan on the own record. A pending record may wait for a dead node; a call with a duration revives it.
   */
  #transactOwn<T>(own: DedicatedCell, plan: SemaphorePlan<T>, asked: number | undefined): Promise<T> {
    const isStuck = asked !== undefined && this.#mayDemand && !this.route.declared(this.name) && !isInForce(own);
    return isStuck ? this.route.revive(own, asked).then(() => own.transact(plan)) : own.transact(plan);
  }

  /** A shard that can't be read holds other names, too, so it is not replaced for one of them. */
  repair(...call: Parameters<DedicatedCell['repair']>): Promise<boolean> {
    return this.route.own(this.name).repair(...call);
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

  #current(): DedicatedCell | ShardCell {
    return this.#own() ?? this.#shard;
  }

  /** The cell of the own record, if that is the name's record. Once it is, this does not change any more. */
  #own(): DedicatedCell | undefined {
    if (this.#isReserved) return this.route.own(this.name);
    const own = this.route.find(this.name);
    if (own && isInForce(own)) return own;
    return this.shards.isReady && this.#isClaimed ? this.route.own(this.name) : undefined;
  }

  get #isClaimed(): boolean {
    return this.#shard.known?.claims.has(this.name) ?? false;
  }

  /** Not cached: at the birth of a cluster, `Shards.forget` drops all cells. */
  get #shard(): ShardCell {
    return this.shards.of(this.#shardKey);
  }

  #nameIn(shard: ShardRecord, asked?: number, view?: View): SemaphoreRecord {
    const record = nameIn(shard, this.name, asked);
    const declared = this.route.declared(this.name);
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
      const before = this.#nameIn(shard, this.#mayDemand ? asked : undefined, view);
      const step = plan(before, view, nonce);
      // If code defines the name, nothing is granted here before the claim, and later the definition's duration
      // applies.
      if (!this.route.declared(this.name) || 'write' in step) expectShort(shard, name, asked);
      return inShard(step, name, (next) => {
        expectRoom(shard, name, next, view);
        for (const { id, duration } of next.permits) {
          if (duration <= LONGEST_ON_DEMAND) continue;
          // A permit that is not new may keep a duration that was allowed when it was granted.
          if (duration > (before.permits.find((former) => former.id === id)?.duration ?? 0))
            expectShort(shard, name, duration);
        }
        return withName(shard, name, before, next, view);
      });
    };
  }

  #unread(): ShardsUnreadError {
    return new ShardsUnreadError(this.name, this.route.declared(this.name) !== undefined, this.route.whyUnread());
  }
}

function isInForce({ known }: DedicatedCell): boolean {
  return known !== undefined && isActive(known);
}

/** A plan that may return a result from an active own record, but never writes. Otherwise the shard must be read. */
function ifActive<T>(plan: SemaphorePlan<T>): SemaphorePlan<T | typeof UNREAD> {
  const read = withoutWrite(plan);
  return (record, view, nonce) => (record && isActive(record) ? read(record, view, nonce) : { result: UNREAD });
}

/** The same plan, as long as it writes nothing. */
function withoutWrite<T>(plan: SemaphorePlan<T>): SemaphorePlan<T | typeof UNREAD> {
  return (record, view, nonce) => {
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
