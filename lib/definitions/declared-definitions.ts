import {
  type DurationInput,
  type SemaphoreDefinition,
  type SemaphoreDefinitionInput,
  type SemaphoreRecord,
  type View,
  defined,
  isActive,
  nameIn,
  parseDefinition,
  reinstate,
  reservedNameFault,
  restore,
  rewrite,
  withGraceFor,
  withName,
} from '../decision/index.js';
import { durationFault } from '../decision/definition.js';
import { forEachLimit } from '../async/for-each-limit.js';
import type { Context } from '../context/context.js';
import { isUnreadable } from '../records/known-record.js';
import type { OwnRecords } from '../records/own-records.js';
import type { OwnRecordClient, SemaphoreStep } from '../records/semaphore-records.js';
import type { Shards } from '../records/shards.js';
import type { Archived } from './archive/bounded-archive.js';
import { FirstLoad } from './first-load.js';
import { OwnRecordMaker } from './own-record-maker.js';
import type { ArchivedDefinition } from './archive/definition-archive.js';

/**
 * The definitions in this node's code. They are put into the store if it has no definition of that name. They never
 * overwrite an existing one, which may be an operator's edit.
 */
export class DeclaredDefinitions {
  #declared = new Map<string, SemaphoreDefinition>();
  readonly #maker: OwnRecordMaker;
  #isLoaded = false;
  /** Calls that find no definition right after the start wait for it. */
  readonly firstLoad: FirstLoad;

  constructor(
    private readonly own: OwnRecords,
    private readonly shards: Shards,
    private readonly context: Context,
    private readonly options: {
      readonly requireDefinitions: boolean;
      /** The store belongs to this process alone, so missing definitions may be created at any time. */
      readonly atOnce: boolean;
      /** The longest that a call waits for definitions to be loaded for the first time, in ms. */
      readonly patience: number;
      /** Archived definitions; undefined while the archive can't be read. */
      readonly archived?: () => Promise<Archived | undefined>;
      /** Waits until this node has read all shards, for so many ms. @returns false when it did not */
      readonly awaitHistory: (timeout: number) => Promise<boolean>;
    },
  ) {
    this.firstLoad = new FirstLoad(context, options.patience);
    this.#maker = new OwnRecordMaker(own, shards, context);
  }

  /** Whether code declares a definition of that name, loaded or not yet. */
  has(name: string): boolean {
    return this.#declared.has(name);
  }

  /** The definition of that name in code, if there is one. */
  get(name: string): SemaphoreDefinition | undefined {
    return this.#declared.get(name);
  }

  /** All definitions of this node's code. */
  get all(): readonly SemaphoreDefinition[] {
    return [...this.#declared.values()];
  }

  /** Rules for definitions of code, and the names that are defined already. */
  get rules() {
    return {
      configured: new Set(this.#declared.keys()),
      requireDefinitions: this.options.requireDefinitions,
      clockTolerance: this.context.timing.clockTolerance,
    };
  }

  /** Registers a definition in code; the first one of a name counts. */
  register(input: SemaphoreDefinitionInput): void {
    const definition = parseDefinition(input, this.context.timing.clockTolerance);
    if (!this.#declared.has(definition.name)) this.#declared.set(definition.name, definition);
  }

  /** Registers definitions of guarded methods. If the store belongs to this process, they are in the store afterwards. */
  async registerAll(definitions: readonly SemaphoreDefinitionInput[]): Promise<void> {
    for (const definition of definitions) this.register(definition);
    if (this.options.atOnce) await this.load();
  }

  /** Waits until this node may grant names on demand. @returns false when it may not */
  async awaitShards(): Promise<boolean> {
    await this.options.awaitHistory(this.options.patience);
    if (!this.shards.isReady) await this.firstLoad.wait('', () => false);
    return this.shards.isReady;
  }

  /** See {@link OwnRecordMaker.revive}. */
  revive(client: OwnRecordClient, asked: number): Promise<void> {
    return this.#maker.revive(client, asked);
  }

  /** Waits until a definition of this node's code may be in force. @returns false when there is nothing to wait for */
  awaitLoad(name: string): Promise<boolean> {
    return this.firstLoad.wait(name, () => !this.isAwaited(name));
  }

  /** Whether a call is to find a definition: code has one of that name, or the duration that the call asks for makes one. */
  expects(name: string, duration: number | undefined): boolean {
    return this.has(name) || (duration !== undefined && this.mayDemand(name));
  }

  /** Whether the duration of a call may make a definition of that name. */
  mayDemand(name: string): boolean {
    return !this.options.requireDefinitions && reservedNameFault(name) === undefined;
  }

  /**
   * Checks the duration that a call asks for. Where the store is this process's own, the definition of the name is there
   * when this resolves: a unit test may call a method of an application that it only compiled.
   *
   * @param duration ms or text
   * @returns undefined when there is nothing to wait for
   * @throws InvalidOptionsError when a permit of that duration would be over before it can be used
   */
  ensure(name: string, duration: DurationInput | undefined): Promise<void> | undefined {
    this.#checkDuration(name, duration);
    if (!this.options.atOnce) return undefined;
    // An operator may have paused a name on demand.
    const isArchived = this.options.archived !== undefined && !this.#isLoaded;
    return isArchived || this.isAwaited(name) ? this.#tryToLoad(name) : undefined;
  }

  /** A duration that was read before is only compared: the usual case. @throws InvalidOptionsError */
  #checkDuration(name: string, duration: DurationInput | undefined): void {
    const { clockTolerance } = this.context.timing;
    if (typeof duration === 'number' && durationFault(duration, clockTolerance) === undefined) return;
    if (duration !== undefined) parseDefinition({ name, duration }, clockTolerance);
  }

  async #tryToLoad(name: string): Promise<void> {
    const archived = await this.#archived();
    if (archived) await this.#loadThese([name], archived).catch(() => undefined);
  }

  /** Whether code defines a name, but the store has no record of it in force, as far as this node knows. */
  isAwaited(name: string): boolean {
    if (!this.has(name)) return false;
    const known = this.own.find(name)?.known;
    return !known || !isActive(known);
  }

  /**
   * Creates missing records, preferring archived state over code. Does nothing while the archive is unreadable: a paused
   * job could run. Called once the cluster had time to show its records, and again whenever one may be missing. A record
   * that can't be read is left as it is and keeps no other from being loaded.
   *
   * @param others records of other nodes that this node watches: their names are claimed again, too
   * @throws when the store can't be asked
   */
  async load(others: Iterable<OwnRecordClient> = []): Promise<void> {
    const archived = await this.#archived();
    if (archived) {
      if (!(await this.options.awaitHistory(this.options.patience))) return;
      await this.#loadThese(this.#missing(archived), archived);
      await this.#maker.claimAgain(others);
      this.#isLoaded = true;
      this.shards.markLoaded();
    }
    this.firstLoad.end();
  }

  async #archived(): Promise<Archived | undefined> {
    return this.options.archived ? this.options.archived() : new Map();
  }

  /** Names without a record, or with an earlier revision than the archive, as far as this node knows. */
  #missing(archived: Archived): string[] {
    const expected = [...this.#declared.keys()].filter((name) => this.isAwaited(name));
    const lost = [...archived.values()].filter((each) => this.#isLost(each));
    return [...new Set([...expected, ...lost.map(({ name }) => name)])];
  }

  #isLost({ name, revision, definition }: ArchivedDefinition): boolean {
    const known = this.#hasOwn(name) ? this.own.find(name)?.known?.revision : this.shards.revisionOf(name);
    return (known ?? -1) < revision || (known === revision && !!definition && this.shards.lacks(name));
  }

  /** Whether the record of a name is one of its own, now or soon. */
  #hasOwn(name: string): boolean {
    if (this.own.find(name)?.known || this.shards.isClaimed(name) || reservedNameFault(name)) return true;
    return this.has(name) && !this.shards.isDefined(name);
  }

  async #loadThese(names: readonly string[], archived: Archived): Promise<void> {
    const own = names.filter((name) => this.#hasOwn(name));
    const inShards = names.flatMap((name) => (this.#hasOwn(name) ? [] : (archived.get(name) ?? [])));
    // In this order, as each raises the revision of its shard: below that a definition counts as removed.
    const onDemand = inShards.toSorted((one, other) => one.revision - other.revision);
    await this.#maker.prepare(own);
    await forEachLimit(own, (name) => this.#load(name, this.#createOwn(name, archived.get(name))));
    await forEachLimit(onDemand, (each) => this.#load(each.name, this.#reinstateInShard(each)));
  }

  async #load(name: string, creating: Promise<Creation>): Promise<void> {
    const event = await creating.catch((error: unknown) => {
      if (isUnreadable(error)) return undefined;
      throw error;
    });
    // It answered: from now on silence is an outage, no longer a slow start.
    this.context.reachability.back();
    if (event) this.context.events.next({ ...event, semaphore: name });
  }

  /** A record that is pending becomes active; one that is has the archived definition put back, if that is further. */
  #createOwn(name: string, archived: ArchivedDefinition | undefined): Promise<Creation> {
    return this.own.of(name).transact<Creation>((record, view, nonce): SemaphoreStep<Creation> => {
      const claim = this.shards.claimOf(name);
      if (!record || (!isActive(record) && claim === undefined)) return { result: undefined };
      const found = archived && this.#reinstated(archived, record, view, nonce);
      const first = found ?? (isActive(record) ? undefined : this.#first(name, record, view, nonce));
      if (!first) return { result: undefined };
      const { revision } = first;
      // The record may be missing because the store lost it: a holder of a permit may still be at work.
      const isUnsure = !isActive(record) && (this.context.timing.strictStart || claim !== record.origin);
      const write = isUnsure ? restore(first, undefined, view, nonce) : first;
      return { write, done: () => ({ type: found ? 'reinstated' : 'defined', revision }) };
    });
  }

  #reinstateInShard(archived: ArchivedDefinition): Promise<Creation> {
    const { name, revision } = archived;
    return this.shards.ofName(name).transact<Creation>((found, view, nonce) => {
      const shard = this.shards.orEmpty(found);
      if (!shard || shard.claims.has(name)) return { result: undefined };
      const before = nameIn(shard, name);
      // A removal raised the shard's revision above the definition's: where they are equal, another name has raised it.
      const isMissing = shard.revision === revision && !shard.names.has(name) && archived.definition;
      const next = reinstate(archived, isMissing ? { ...before, revision: 0 } : before, view, nonce);
      if (!next) return { result: undefined };
      const write = withName(shard, name, before, next, view);
      const done = () => ({ type: 'reinstated', revision }) as const;
      return { write: withGraceFor(write, next.definition?.duration ?? 0, view), done };
    });
  }

  #first(name: string, pending: SemaphoreRecord, view: View, nonce: string): SemaphoreRecord | undefined {
    const definition = this.#declared.get(name);
    return definition && rewrite(pending, { definition, revision: 1 }, view, nonce);
  }

  /** After a reset, the present code counts, even if it has changed since the reset. */
  #reinstated(archived: ArchivedDefinition, record: SemaphoreRecord | undefined, view: View, nonce: string) {
    const { name, change, pause } = archived;
    const declared = change?.kind === 'reset' ? this.#declared.get(name) : undefined;
    return reinstate(declared ? { ...archived, ...defined(declared, pause) } : archived, record, view, nonce);
  }
}

/** The event of a record that {@link DeclaredDefinitions.load} wrote. */
type Creation = { readonly type: 'defined' | 'reinstated'; readonly revision: number } | undefined;
