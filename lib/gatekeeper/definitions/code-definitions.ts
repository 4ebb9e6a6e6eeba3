import {
  type DurationInput,
  type SemaphoreDefinition,
  type SemaphoreDefinitionInput,
  createRecord,
  parseDefinition,
  restore,
} from '../../semaphores/index.js';
import { abreast } from '../abreast.js';
import type { Context } from '../context.js';
import { type RecordKeeper, isUnreadable } from '../record-keeper.js';

/**
 * The definitions that code brings along. They are put into the store where it has none of that name, and never
 * overwrite what is there: that may be an operator's edit.
 */
export class CodeDefinitions {
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

  /** What code says of that name, if anything. */
  get(name: string): SemaphoreDefinition | undefined {
    return this.#expected.get(name);
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
    await abreast(missing, (definition) => this.#load(definition));
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
