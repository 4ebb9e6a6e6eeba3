import {
  type DurationInput,
  type SemaphoreDefinition,
  type SemaphoreDefinitionInput,
  type SemaphoreRecord,
  type View,
  createRecord,
  edit,
  parseDefinition,
  release,
  remove,
  restore,
} from '../semaphores/index.js';
import type { Context } from './context.js';
import { EditConflictError, UnknownSemaphoreError } from './gatekeeper.errors.js';
import { isUnreadable } from './known-record.js';
import type { RecordKeeper } from './record-keeper.js';

/** A definition as it is in force. */
export interface DefinitionState {
  readonly definition: SemaphoreDefinition;
  readonly revision: number;
}

/** How many definitions are put into the store at once. */
const ABREAST = 32;

/**
 * The definitions: those that code brings along, and those in force in the store. What is in the store is never
 * overwritten by what code brings along, only by an edit.
 */
export class Definitions {
  #expected = new Map<string, SemaphoreDefinition>();
  #isLoading = false;

  constructor(
    private readonly keeperOf: (name: string) => RecordKeeper,
    private readonly context: Context,
    private readonly options: { readonly requireDefinitions: boolean },
  ) {}

  /** Whether code brought a definition of that name along, loaded or not yet. */
  isExpected(name: string): boolean {
    return this.#expected.has(name);
  }

  /** What code brought along. */
  get expected(): readonly SemaphoreDefinition[] {
    return [...this.#expected.values()];
  }

  /** What code's definitions must keep to, and what is defined already. */
  get rules() {
    return {
      configured: new Set(this.#expected.keys()),
      requireDefinitions: this.options.requireDefinitions,
      clockTolerance: this.context.timing.clockTolerance,
    };
  }

  /** Notes a definition that code brings along; the first one of a name counts. */
  expect(input: SemaphoreDefinitionInput): void {
    const definition = parseDefinition(input, this.context.timing.clockTolerance);
    if (!this.#expected.has(definition.name)) this.#expected.set(definition.name, definition);
  }

  /**
   * Where no definition of that name is known, a duration given with a call makes one: any group, any acquirer, one
   * permit.
   *
   * @param duration ms or text
   * @throws InvalidOptionsError when a permit of that duration would be over before it can be used
   */
  async ensure(name: string, duration: DurationInput | undefined): Promise<void> {
    if (duration === undefined) return;
    const definition = parseDefinition({ name, duration }, this.context.timing.clockTolerance);
    if (this.#expected.has(name) || this.options.requireDefinitions) return;
    this.#expected.set(name, definition);
    if (this.#isLoading) await this.#load(definition).catch(() => undefined);
  }

  /**
   * Puts into the store what is not there. Called once the cluster had time to show what it has, and again whenever
   * something may be missing. A record that can't be read is left as it is and keeps no other from being loaded.
   *
   * @throws when the store can't be asked
   */
  async load(): Promise<void> {
    this.#isLoading = true;
    const missing = this.expected.filter((definition) => !this.keeperOf(definition.name).known);
    const errors: unknown[] = [];
    for (let start = 0; start < missing.length && errors.length === 0; start += ABREAST) {
      const results = await Promise.allSettled(missing.slice(start, start + ABREAST).map((each) => this.#load(each)));
      errors.push(...results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])));
    }
    if (errors.length > 0) throw errors[0];
  }

  /** @returns undefined when there is none, or it was removed */
  async get(name: string): Promise<DefinitionState | undefined> {
    return this.keeperOf(name).transact<DefinitionState | undefined>((record) => ({
      result: record?.definition && { definition: record.definition, revision: record.revision },
    }));
  }

  /**
   * Puts another definition in force for the next decision of every node. Permits that are held stay; surplus ones run
   * out.
   *
   * @param expectedRevision the revision that the editor has read
   * @throws UnknownSemaphoreError, EditConflictError, InvalidOptionsError
   */
  async edit(
    name: string,
    change: Partial<Omit<SemaphoreDefinitionInput, 'name'>>,
    expectedRevision?: number,
  ): Promise<DefinitionState> {
    return this.keeperOf(name).transact<DefinitionState>((record, view, nonce) => {
      if (!record?.definition) throw new UnknownSemaphoreError(name);
      if (expectedRevision !== undefined && record.revision !== expectedRevision) {
        throw new EditConflictError(name, expectedRevision, record.revision);
      }
      const changed = { ...record.definition, ...given(change), name };
      const definition = parseDefinition(changed, this.context.timing.clockTolerance);
      const next = edit(record, definition, view, nonce);
      return { write: next, done: () => ({ definition, revision: next.revision }) };
    });
  }

  /** Takes a definition away, with all its permits. Code does not bring it back: an operator's removal stays. */
  remove(name: string): Promise<boolean> {
    return this.#change(name, remove);
  }

  /** Takes a permit from its holder at once: its signal aborts when the node hears of it. */
  revoke(name: string, permitId: string): Promise<boolean> {
    return this.#change(name, (record, view, nonce) => release(record, permitId, view, nonce));
  }

  /** @returns false when there was nothing to change */
  async #change(
    name: string,
    change: (record: SemaphoreRecord, view: View, nonce: string) => SemaphoreRecord | undefined,
  ): Promise<boolean> {
    return this.keeperOf(name).transact<boolean>((record, view, nonce) => {
      const next = record && change(record, view, nonce);
      return next ? { write: next, done: () => true } : { result: false };
    });
  }

  async #load(definition: SemaphoreDefinition): Promise<void> {
    const { name } = definition;
    const isNew = await this.#create(definition).catch((error: unknown) => {
      if (isUnreadable(error)) return false;
      throw error;
    });
    // It answered: from now on silence is an outage, no longer a slow start.
    this.context.reachability.back();
    if (isNew) this.context.events.next({ type: 'defined', semaphore: name, revision: 1 });
  }

  #create(definition: SemaphoreDefinition): Promise<boolean> {
    return this.keeperOf(definition.name).transact<boolean>((record, view, nonce) => {
      if (record) return { result: false };
      const first = createRecord(definition, view.now, nonce);
      // Nothing may stand there because the store lost it: who held a permit may still be at work.
      const { strictStart } = this.context.timing;
      return { write: strictStart ? restore(first, undefined, view, nonce) : first, done: () => true };
    });
  }
}

/** Without what is undefined: a field that an editor left out keeps its value, and is not set to its default. */
function given<T extends object>(change: T): Partial<T> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<T>;
}
