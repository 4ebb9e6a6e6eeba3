import {
  InvalidOptionsError,
  type SemaphoreDefinition,
  type SemaphoreDefinitionInput,
  type SemaphoreRecord,
  createRecord,
  edit,
  intendedDefinition,
  expectChangeable,
  parseDefinition,
  pause,
  release,
  remove,
  resume,
  show,
  unreserved,
} from '../decision/index.js';
import type { Context } from '../context/context.js';
import type { Audit } from '../activity/index.js';
import type { NodeInfo } from '../activity/index.js';
import { AlreadyDefinedError, NotInCodeError, UnknownSemaphoreError } from './definitions.errors.js';
import type { SemaphoreClient, SemaphorePlan } from '../records/semaphore-records.js';
import type { SemaphoreListing } from '../records/semaphore-listing.js';
import { type ChangeOptions, parseChangeOptions } from './change-options.js';
import { BulkChanges } from './bulk-changes.js';
import type { BulkRequest, BulkResult } from './bulk-request.js';
import type { DeclaredDefinitions } from './declared-definitions.js';
import { type DefinitionState, definitionState } from './definition-state.js';
import { DefinitionWriter, type RecordVisit } from './definition-writer.js';
import type { MigrationPlan } from './migration.js';
import type { MigrationOptions, MigrationRequest } from './migration-request.js';

/** Fields that may be edited. */
export type DefinitionEdit = Partial<Omit<SemaphoreDefinitionInput, 'name'>>;

/**
 * The current definitions, and the changes by operators at run time. A change applies from the next decision of every node.
 * The record and the audit log show its author, time and reason.
 *
 * Errors of all changes: InvalidOptionsError listing every fault, EditConflictError when another revision was expected,
 * UnknownSemaphoreError when there is no such definition, and those of a store that can't be asked.
 */
export class Definitions {
  private readonly writer: DefinitionWriter;
  private readonly bulk: BulkChanges;

  /**
   * @param recordClients.peek returns one that is only read, and that is not kept in memory
   * @param recordClients.visit returns one that is kept only if the store has its record
   * @param nodes returns the living nodes
   */
  constructor(
    private readonly recordClients: {
      peek(name: string): SemaphoreClient;
      readonly visit: RecordVisit;
    },
    private readonly declared: DeclaredDefinitions,
    private readonly audit: Audit,
    private readonly context: Context,
    nodes: () => Promise<readonly NodeInfo[]>,
    listing: SemaphoreListing,
  ) {
    this.writer = new DefinitionWriter(recordClients.visit, declared, audit, context);
    this.bulk = new BulkChanges(listing, this.writer, context, nodes);
  }

  /** @returns undefined when there is none, or it was removed */
  get(name: string): Promise<DefinitionState | undefined> {
    return this.recordClients
      .peek(name)
      .transact((record) => ({ result: definitionState(record, this.declared.get(name)) }));
  }

  /** Lists the faults of a definition, each as a sentence. Neither reads nor writes the store. */
  faultsOf(input: unknown): readonly string[] {
    try {
      parseDefinition(input, this.context.timing.clockTolerance);
      return [];
    } catch (error) {
      if (error instanceof InvalidOptionsError) return error.faults;
      throw error;
    }
  }

  /**
   * Defines a semaphore that has no definition, or was removed.
   *
   * @throws AlreadyDefinedError, ReservedNameError
   */
  async define(input: SemaphoreDefinitionInput, options?: ChangeOptions): Promise<DefinitionState> {
    const definition = parseDefinition(input, this.context.timing.clockTolerance);
    unreserved(definition.name);
    return this.writer.change('define', definition.name, options, (record, change, view, nonce) => {
      if (record?.definition) throw new AlreadyDefinedError(definition.name, record.revision);
      if (record) return edit(record, definition, change, view, nonce);
      return { ...createRecord(definition, view.now, nonce), change };
    });
  }

  /**
   * Changes the definition. Held permits stay; surplus ones expire. For a paused semaphore a new group pattern applies
   * after the pause.
   */
  async edit(name: string, changes: DefinitionEdit, options?: ChangeOptions): Promise<DefinitionState> {
    expectNoRenaming(name, changes);
    return this.writer.change('edit', name, options, (record, change, view, nonce) => {
      const definition = edited(intended(name, record), changes, this.context.timing.clockTolerance);
      return edit(record!, definition, change, view, nonce);
    });
  }

  /**
   * Pauses a semaphore: no new run starts until it is resumed, and current runs may finish. The record keeps the group
   * pattern for the resume. Has no effect on a paused semaphore.
   */
  pause(name: string, options?: ChangeOptions): Promise<DefinitionState> {
    return this.writer.change('pause', name, options, (record, ...rest) => pause(defined(name, record), ...rest));
  }

  /** Resumes a semaphore. Has no effect if it is not paused. */
  resume(name: string, options?: ChangeOptions): Promise<DefinitionState> {
    return this.writer.change('resume', name, options, (record, ...rest) => resume(defined(name, record), ...rest));
  }

  /**
   * Restores the definition in this node's code, also of a removed semaphore.
   *
   * @throws NotInCodeError when this node's code has no definition of that name
   */
  async reset(name: string, options?: ChangeOptions): Promise<DefinitionState> {
    const definition = this.declared.get(name);
    if (!definition) throw new NotInCodeError(name);
    return this.writer.change('reset', name, options, (record, change, view, nonce) => {
      if (!record) throw new UnknownSemaphoreError(name);
      return edit(record, definition, change, view, nonce);
    });
  }

  /**
   * Removes a definition, with all its permits. Code does not restore it: the removal stays until `reset` or `define`.
   *
   * @returns false when there was none
   */
  async remove(name: string, options?: ChangeOptions): Promise<boolean> {
    const parsed = parseChangeOptions(name, options);
    return this.writer.write('remove', name, parsed, {
      rewriting: (record, ...rest) => record && remove(record, ...rest),
      done: () => true,
      unchanged: () => false,
    });
  }

  /**
   * Takes a permit from its holder at once: its signal aborts when the node hears of it.
   *
   * @returns false when it was not held any more
   */
  async revoke(name: string, permitId: string, options?: ChangeOptions): Promise<boolean> {
    expectChangeable(name);
    const author = this.writer.author(parseChangeOptions(name, options));
    const plan: SemaphorePlan<boolean> = (record, view, nonce) => {
      const permit = record?.permits.find(({ id }) => id === permitId);
      const next = record && release(record, permitId, view, nonce);
      if (!next) return { result: false };
      const done = () => {
        this.audit.note({ action: 'revoke', semaphore: name, ...author, permit });
        return true;
      };
      const isDoneIn = (later: SemaphoreRecord | undefined, isUncertain: boolean) =>
        isUncertain && !later?.permits.some(({ id }) => id === permitId);
      return { write: next, done, isDoneIn };
    };
    return this.recordClients.visit(name, (recordClient) => recordClient.transact(plan));
  }

  /** Plans what {@link migrate} would do now. Writes nothing. */
  planMigration(request: MigrationRequest, options?: Pick<MigrationOptions, 'limit' | 'only'>): Promise<MigrationPlan> {
    return this.bulk.planMigration(request, options);
  }

  /**
   * Changes the patterns of many definitions, which moves their jobs to other nodes. Current runs may finish. A failed step
   * does not stop the others. A store that stops answering ends the call; repeat the call to continue with the rest. For a
   * paused semaphore the pattern after the pause is changed.
   *
   * @throws InvalidOptionsError for options that can't be used, patterns among them
   * @throws NothingMatchesError when `names` matches no semaphore
   * @throws StoreUnavailableError (NoQuorumError) when nothing was done because the store can't be asked
   */
  migrate(request: MigrationRequest, options?: MigrationOptions): Promise<MigrationPlan> {
    return this.bulk.migrate(request, options);
  }

  /** Pauses all that are selected and not paused, as {@link pause} does with one. Errors as of {@link migrate}. */
  pauseAll(request?: BulkRequest): Promise<BulkResult> {
    return this.bulk.changeAll('pause', request, pause);
  }

  /** Resumes all that are selected and paused. Errors as of {@link migrate}. */
  resumeAll(request?: BulkRequest): Promise<BulkResult> {
    return this.bulk.changeAll('resume', request, resume);
  }
}

/** @throws UnknownSemaphoreError */
function defined(name: string, record: SemaphoreRecord | undefined): SemaphoreRecord {
  if (!record?.definition) throw new UnknownSemaphoreError(name);
  return record;
}

/** @throws UnknownSemaphoreError */
function intended(name: string, record: SemaphoreRecord | undefined): SemaphoreDefinition {
  return intendedDefinition(defined(name, record))!;
}

/** @throws InvalidOptionsError, because the name of a semaphore can't be changed */
function expectNoRenaming(name: string, changes: DefinitionEdit & { readonly name?: unknown }): void {
  if (changes.name === undefined || changes.name === name) return;
  throw new InvalidOptionsError(`an edit of semaphore ${show(name)}`, [
    `name: ${show(changes.name)} would be another semaphore: define that, and remove this`,
  ]);
}

/**
 * A pattern that is left as it is isn't checked: one that costs too much, stored by an earlier version, must not keep an
 * operator from changing the rest.
 *
 * @throws InvalidOptionsError
 */
function edited(definition: SemaphoreDefinition, changes: DefinitionEdit, clockTolerance: number): SemaphoreDefinition {
  const { groupPattern, acquirerPattern, ...others } = definition;
  const { name } = definition;
  const parsed = parseDefinition({ ...others, ...given(changes), name }, clockTolerance);
  return {
    ...parsed,
    ...(changes.groupPattern === undefined && { groupPattern }),
    ...(changes.acquirerPattern === undefined && { acquirerPattern }),
  };
}

/** Drops undefined values: a field that is not given keeps its value, and does not get its default. */
function given<T extends object>(change: T): Partial<T> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<T>;
}
