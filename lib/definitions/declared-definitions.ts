import {
  type DurationInput,
  type SemaphoreDefinition,
  type SemaphoreDefinitionInput,
  type SemaphoreRecord,
  type View,
  createRecord,
  defined,
  parseDefinition,
  reinstate,
  restore,
} from '../decision/index.js';
import { durationFault } from '../decision/definition.js';
import { forEachLimit } from '../async/for-each-limit.js';
import type { Context } from '../context/context.js';
import { isUnreadable } from '../records/known-record.js';
import type { SemaphoreClient, SemaphoreStep } from '../records/semaphore-records.js';
import type { Archived } from './archive/bounded-archive.js';
import { FirstLoad } from './first-load.js';
import type { ArchivedDefinition } from './archive/definition-archive.js';

/**
 * The definitions in this node's code. They are put into the store if it has no definition of that name. They never
 * overwrite an existing one, which may be an operator's edit.
 */
export class DeclaredDefinitions {
  #declared = new Map<string, SemaphoreDefinition>();
  #isLoading: boolean;
  /** Calls that find no definition right after the start wait for it. */
  readonly firstLoad: FirstLoad;

  constructor(
    private readonly recordClientOf: (name: string) => SemaphoreClient,
    private readonly context: Context,
    private readonly options: {
      readonly requireDefinitions: boolean;
      /** The store belongs to this process alone, so missing definitions may be created at any time. */
      readonly atOnce: boolean;
      /** The longest that a call waits for definitions to be loaded for the first time, in ms. */
      readonly patience: number;
      /** Archived definitions; undefined while the archive can't be read. */
      readonly archived?: () => Promise<Archived | undefined>;
    },
  ) {
    this.#isLoading = options.atOnce;
    this.firstLoad = new FirstLoad(context, options.patience);
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

  /**
   * Where no definition of that name is known, a duration given with a call makes one: any group, any acquirer, one
   * permit.
   *
   * @param duration ms or text
   * @returns undefined when there is nothing to wait for
   * @throws InvalidOptionsError when a permit of that duration would be over before it can be used
   */
  ensure(name: string, duration: DurationInput | undefined): Promise<void> | undefined {
    if (duration === undefined || this.#isDeclared(name, duration)) return this.#ensureAtOnce(name);
    return this.#ensureDeclared(name, duration);
  }

  /** Whether a call with a duration that was read has nothing to declare: the usual case, without a second reading. */
  #isDeclared(name: string, duration: DurationInput): boolean {
    if (typeof duration !== 'number' || !this.#declared.has(name)) return false;
    return durationFault(duration, this.context.timing.clockTolerance) === undefined;
  }

  async #ensureDeclared(name: string, duration: DurationInput): Promise<void> {
    const definition = parseDefinition({ name, duration }, this.context.timing.clockTolerance);
    if (this.#declared.has(name) || this.options.requireDefinitions) return this.#ensureAtOnce(name);
    this.#declared.set(name, definition);
    if (this.#isLoading) await this.#tryToLoad(name);
  }

  /** Also works before the start: a unit test may call methods of an application that it has only compiled. */
  #ensureAtOnce(name: string): Promise<void> | undefined {
    if (!this.options.atOnce || !this.#declared.has(name)) return undefined;
    return this.recordClientOf(name).known === undefined ? this.#tryToLoad(name) : undefined;
  }

  async #tryToLoad(name: string): Promise<void> {
    const archived = await this.#archived();
    if (archived) await this.#load(name, archived).catch(() => undefined);
  }

  /**
   * Creates missing records, preferring archived state over code. Does nothing while the archive is unreadable: a paused
   * job could run. Called once the cluster had time to show its records, and again whenever one may be missing. A record
   * that can't be read is left as it is and keeps no other from being loaded.
   *
   * @throws when the store can't be asked
   */
  async load(): Promise<void> {
    this.#isLoading = true;
    const archived = await this.#archived();
    if (archived) await forEachLimit(this.#missing(archived), (name) => this.#load(name, archived));
    this.firstLoad.end();
  }

  async #archived(): Promise<Archived | undefined> {
    return this.options.archived ? this.options.archived() : new Map();
  }

  /** Names without a record, or with an earlier revision than the archive, as far as this node knows. */
  #missing(archived: Archived): string[] {
    const revisionOf = (name: string) => this.recordClientOf(name).known?.revision;
    const expected = [...this.#declared.keys()].filter((name) => revisionOf(name) === undefined);
    const lost = [...archived.values()].filter(({ name, revision }) => (revisionOf(name) ?? -1) < revision);
    return [...new Set([...expected, ...lost.map(({ name }) => name)])];
  }

  async #load(name: string, archived: Archived): Promise<void> {
    const event = await this.#create(name, archived.get(name)).catch((error: unknown) => {
      if (isUnreadable(error)) return undefined;
      throw error;
    });
    // It answered: from now on silence is an outage, no longer a slow start.
    this.context.reachability.back();
    if (event) this.context.events.next({ ...event, semaphore: name });
  }

  #create(name: string, archived: ArchivedDefinition | undefined): Promise<Creation> {
    return this.recordClientOf(name).transact<Creation>((record, view, nonce): SemaphoreStep<Creation> => {
      const found = archived && this.#reinstated(archived, record, view, nonce);
      const first = found ?? (record ? undefined : this.#first(name, view, nonce));
      if (!first) return { result: undefined };
      const { revision } = first;
      // The record may be missing because the store lost it: a holder of a permit may still be at work.
      const isUnsure = !record && this.context.timing.strictStart;
      const write = isUnsure ? restore(first, undefined, view, nonce) : first;
      return { write, done: () => ({ type: found ? 'reinstated' : 'defined', revision }) };
    });
  }

  #first(name: string, view: View, nonce: string): SemaphoreRecord | undefined {
    const definition = this.#declared.get(name);
    return definition && createRecord(definition, view.now, nonce);
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
