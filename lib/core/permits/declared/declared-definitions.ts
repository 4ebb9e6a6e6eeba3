import {
  type CodeDefinition,
  type DurationInput,
  type SemaphoreDefinition,
  type SemaphoreDefinitionInput,
  type SemaphoreRecord,
  type View,
  type ArchivedDefinition,
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
} from '../../decision/index.js';
import { durationFault } from '../../decision/definition.js';
import { codeDefinition, encodeCode } from './node-code.js';
import { forEachLimit } from '../../async/for-each-limit.js';
import type { Context } from '../../context/context.js';
import type { NodeIdentity } from '../../context/node-identity.js';
import { isUnreadable } from '../../cell/known-record.js';
import type { DedicatedRecords } from '../../cell/dedicated-records.js';
import type { DedicatedCell, SemaphoreStep } from '../../cell/semaphore-records.js';
import type { Shards } from '../../cell/shards.js';
import { FirstLoad } from './first-load.js';
import { DedicatedRecordMaker } from './dedicated-record-maker.js';

/** The definitions in the code of a living node. */
interface CodeOfNode {
  readonly node: Pick<NodeIdentity, 'acquirer'>;
  /** Fingerprint of the definition of a name; undefined if the code does not define it. */
  readonly fingerprintOf: (name: string) => string | undefined;
}

/** Archived definitions, by the semaphore's name. */
export type Archived = ReadonlyMap<string, ArchivedDefinition>;

/**
 * The definitions in this node's code. Creates them in the store if the store has no definition of that name. Never
 * overwrites an existing one: `CodeFollower` decides whether it follows the code.
 */
export class DeclaredDefinitions {
  #declared = new Map<string, SemaphoreDefinition>();
  readonly #maker: DedicatedRecordMaker;
  /** `encodeCode` of all definitions, until another one is registered. */
  #announcement?: string | undefined;
  #isLoaded = false;
  /** Right after the start, calls that find no definition wait here. */
  readonly firstLoad: FirstLoad;

  constructor(
    private readonly own: DedicatedRecords,
    private readonly shards: Shards,
    private readonly context: Context,
    private readonly options: {
      readonly requireDefinitions: boolean;
      /** Whether only this process writes to the store. Then missing definitions may be created at any time. */
      readonly atOnce: boolean;
      /** The longest time in ms for which a call waits for the first load. */
      readonly patience: number;
      /** Archived definitions; undefined while the archive can't be read. */
      readonly archived?: () => Promise<Archived | undefined>;
      /** Waits until this node has read all shards. @returns false after `timeout` ms */
      readonly awaitHistory: (timeout: number) => Promise<boolean>;
    },
  ) {
    this.firstLoad = new FirstLoad(context, options.patience);
    this.#maker = new DedicatedRecordMaker(own, shards, context);
  }

  /** Whether code declares a definition of that name. It may not be in the store yet. */
  has(name: string): boolean {
    return this.#declared.has(name);
  }

  /** The definition of that name in this node's code, if any. */
  get(name: string): SemaphoreDefinition | undefined {
    return this.#declared.get(name);
  }

  /** All definitions of this node's code. */
  get all(): readonly SemaphoreDefinition[] {
    return [...this.#declared.values()];
  }

  /** Number of definitions of this node's code. */
  get count(): number {
    return this.#declared.size;
  }

  /** {@link all}, with fingerprints. */
  get code(): readonly CodeDefinition[] {
    return this.all.map(codeDefinition);
  }

  /** The definitions of this node's code, for its entry in the registry. */
  get announcement(): string {
    this.#announcement ??= encodeCode(this.code);
    return this.#announcement;
  }

  /** Whether {@link load} has once ended. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** The record of a name as this node knows it: an active one of its own, or an operator's definition in a shard. */
  recordOf(name: string): SemaphoreRecord | undefined {
    const own = this.own.find(name)?.known;
    return own && isActive(own) ? own : this.shards.definedRecordOf(name);
  }

  /** Rules for definitions of code, and the names that are defined already. */
  get rules() {
    return {
      configured: new Set(this.#declared.keys()),
      requireDefinitions: this.options.requireDefinitions,
      clockTolerance: this.context.timing.clockTolerance,
    };
  }

  /** Registers a definition of this node's code. If a name is registered twice, the first definition counts. */
  register(input: SemaphoreDefinitionInput): void {
    const definition = parseDefinition(input, this.context.timing.clockTolerance);
    if (this.#declared.has(definition.name)) return;
    this.#declared.set(definition.name, definition);
    this.#announcement = undefined;
  }

  /** Registers definitions of guarded methods. If only this process writes to the store, also creates them there. */
  async registerAll(definitions: readonly SemaphoreDefinitionInput[]): Promise<void> {
    for (const definition of definitions) this.register(definition);
    if (this.options.atOnce) await this.load();
  }

  /** Waits until this node may grant names on demand. @returns false if it may not in time */
  async awaitShards(): Promise<boolean> {
    // The archive is loaded after the shards were read: without them there is nothing else to wait for.
    const hasHistory = await this.options.awaitHistory(this.options.patience);
    if (hasHistory && !this.shards.isReady) await this.firstLoad.wait('', () => false);
    return this.shards.isReady;
  }

  /** Whether an operator's definition of a name stands in its shard. Once it is removed, code defines the name. */
  isInShard(name: string): boolean {
    return this.shards.isDefined(name) && !this.shards.isClaimed(name);
  }

  /**
   * Names of the nodes whose code defines a semaphore, so that it can't be removed: nothing would run under it again.
   *
   * @param living the living nodes; this one counts also if the registry does not have it yet
   */
  nodesWith(name: string, living: readonly CodeOfNode[]): string[] {
    if (this.isInShard(name)) return [];
    const names = living
      .filter(({ fingerprintOf }) => fingerprintOf(name) !== undefined)
      .map(({ node }) => node.acquirer);
    const { acquirer } = this.context.node;
    return this.has(name) && !names.includes(acquirer) ? [acquirer, ...names] : names;
  }

  /** See {@link DedicatedRecordMaker.revive}. */
  revive(cell: DedicatedCell, asked: number): Promise<void> {
    return this.#maker.revive(cell, asked);
  }

  /**
   * Waits until a definition of this node's code may be in the store.
   *
   * @returns false if there is nothing to wait for
   */
  awaitLoad(name: string): Promise<boolean> {
    return this.firstLoad.wait(name, () => !this.isAwaited(name));
  }

  /** Whether a call should find a definition: code has one of that name, or the call's duration makes one. */
  expects(name: string, duration: number | undefined): boolean {
    return this.has(name) || (duration !== undefined && this.mayDemand(name));
  }

  /** Whether the duration of a call may make a definition of that name. */
  mayDemand(name: string): boolean {
    return !this.options.requireDefinitions && reservedNameFault(name) === undefined;
  }

  /**
   * Checks the duration that a call asks for. If only this process writes to the store, also loads a missing definition
   * of the name: a unit test may call a method of an application that was compiled but never started.
   *
   * @param duration ms or text
   * @returns undefined if there is nothing to wait for
   * @throws InvalidOptionsError if the duration is invalid or too short
   */
  ensure(name: string, duration: DurationInput | undefined): Promise<void> | undefined {
    this.#checkDuration(name, duration);
    if (!this.options.atOnce) return undefined;
    // The archive may contain a pause of a name on demand.
    const isArchived = this.options.archived !== undefined && !this.#isLoaded;
    return isArchived || this.isAwaited(name) ? this.#tryToLoad(name) : undefined;
  }

  /** In the usual case, the duration is a number and only compared. @throws InvalidOptionsError */
  #checkDuration(name: string, duration: DurationInput | undefined): void {
    const { clockTolerance } = this.context.timing;
    if (typeof duration === 'number' && durationFault(duration, clockTolerance) === undefined) return;
    if (duration !== undefined) parseDefinition({ name, duration }, clockTolerance);
  }

  async #tryToLoad(name: string): Promise<void> {
    const archived = await this.#archived();
    // The call that waits for it then asks the store itself, and gets the same error.
    if (archived) await this.#loadThese([name], archived).catch(() => undefined);
  }

  /** Whether code defines a name, but the store has no active record of it, as far as this node knows. */
  isAwaited(name: string): boolean {
    if (!this.has(name)) return false;
    const known = this.own.find(name)?.known;
    return !known || !isActive(known);
  }

  /**
   * Creates missing records, preferring archived state over code. Does nothing while the archive is unreadable: a
   * paused job could run. Call this after nodes with history had time to restore records, and whenever a record may be
   * missing. An unreadable record stays unchanged and does not stop the others.
   *
   * @param others records that this node watches but does not use; their names are claimed again too
   * @returns false if it is too early: the shards of a new cluster are not there yet
   * @throws if the store can't be asked
   */
  async load(others: Iterable<DedicatedCell> = []): Promise<boolean> {
    const archived = await this.#archived();
    if (archived) {
      if (!(await this.options.awaitHistory(this.options.patience))) return false;
      await this.#loadThese(this.#missing(archived), archived);
      await this.#maker.claimAgain(others);
      this.#isLoaded = true;
      this.shards.markLoaded();
    }
    this.firstLoad.end();
    return true;
  }

  async #archived(): Promise<Archived | undefined> {
    return this.options.archived ? this.options.archived() : new Map();
  }

  /** Names without an active record or with an earlier revision than in the archive, as far as this node knows. */
  #missing(archived: Archived): string[] {
    const expected = [...this.#declared.keys()].filter((name) => this.isAwaited(name));
    const lost = [...archived.values()].filter((each) => this.#isLost(each));
    return [...new Set([...expected, ...lost.map(({ name }) => name)])];
  }

  #isLost({ name, revision, definition }: ArchivedDefinition): boolean {
    const known = this.#hasOwn(name) ? this.own.find(name)?.known?.revision : this.shards.revisionOf(name);
    return (known ?? -1) < revision || (known === revision && !!definition && this.shards.lacks(name));
  }

  /** Whether a name has its own record, or will get one. */
  #hasOwn(name: string): boolean {
    if (this.own.find(name)?.known || this.shards.isClaimed(name) || reservedNameFault(name)) return true;
    return this.has(name) && !this.shards.isDefined(name);
  }

  async #loadThese(names: readonly string[], archived: Archived): Promise<void> {
    const own = names.filter((name) => this.#hasOwn(name));
    const inShards = names.flatMap((name) => (this.#hasOwn(name) ? [] : (archived.get(name) ?? [])));
    // Lowest revision first: each one raises its shard's revision, and a definition below that counts as removed.
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
    // The store has answered. From now on, no answer means an outage and not a slow start.
    this.context.reachability.back();
    if (event) this.context.events.next({ ...event, semaphore: name });
  }

  /** Makes a pending record active. Restores the archived definition if its revision is higher. */
  #createOwn(name: string, archived: ArchivedDefinition | undefined): Promise<Creation> {
    return this.own.of(name).transact<Creation>((record, view, nonce): SemaphoreStep<Creation> => {
      const claim = this.shards.claimOf(name);
      if (!record || (!isActive(record) && claim === undefined)) return { result: undefined };
      const found = archived && this.#reinstated(archived, record, view, nonce);
      const first = found ?? (isActive(record) ? undefined : this.#first(name, record, view, nonce));
      if (!first) return { result: undefined };
      const { revision } = first;
      // The store may have lost the former record. Then a holder of a permit may still work.
      const isUnsure = !isActive(record) && (this.context.timing.strictStart || claim !== record.origin);
      const write = isUnsure ? restore(first, undefined, view, nonce) : first;
      return { write, done: () => ({ type: found ? 'reinstated' : 'defined', revision }) };
    });
  }

  #reinstateInShard(archived: ArchivedDefinition): Promise<Creation> {
    const { name, revision } = archived;
    return this.shards.transact<Creation>(this.shards.keyOf(name), (found, view, nonce) => {
      const shard = this.shards.orEmpty(found);
      if (!shard || shard.claims.has(name)) return { result: undefined };
      const before = nameIn(shard, name);
      // A removal raises the shard's revision above the definition's. If both are equal, the definition was lost.
      const isMissing = shard.revision === revision && !shard.names.has(name) && archived.definition;
      const lacking = isMissing ? { ...before, revision: 0 } : before;
      // A removed definition takes no permit away that was granted on demand since: the name could be granted twice.
      const { permits } = before;
      const next = reinstate(archived, lacking, view, nonce);
      if (!next) return { result: undefined };
      const write = withName(shard, name, before, { ...next, permits }, view);
      const done = () => ({ type: 'reinstated', revision }) as const;
      return { write: withGraceFor(write, next.definition?.duration ?? 0, view), done };
    });
  }

  #first(name: string, pending: SemaphoreRecord, view: View, nonce: string): SemaphoreRecord | undefined {
    const definition = this.#declared.get(name);
    return definition && rewrite(pending, { ...codeDefinition(definition), source: 'code', revision: 1 }, view, nonce);
  }

  /** If the last change was a reset, the present definition in code counts, even if it has changed since. */
  #reinstated(archived: ArchivedDefinition, record: SemaphoreRecord | undefined, view: View, nonce: string) {
    const { name, change, pause } = archived;
    const declared = change?.kind === 'reset' ? this.#declared.get(name) : undefined;
    if (!declared) return reinstate(archived, record, view, nonce);
    const { definition, fingerprint } = codeDefinition(declared);
    const current = { ...archived, ...defined(definition, pause), source: 'code' as const, fingerprint };
    return reinstate(current, record, view, nonce);
  }
}

/** The event of a record that {@link DeclaredDefinitions.load} wrote. */
type Creation = { readonly type: 'defined' | 'reinstated'; readonly revision: number } | undefined;
