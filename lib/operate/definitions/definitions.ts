import {
  omitUndefined,
  InvalidOptionsError,
  type SemaphoreDefinition,
  type SemaphoreDefinitionInput,
  type SemaphoreRecord,
  type StoredPermit,
  createRecord,
  edit,
  intendedDefinition,
  expectChangeable,
  expectDefinable,
  parseDefinition,
  pause,
  release,
  remove,
  resume,
  show,
  adoptCode,
} from '../../core/decision/index.js';
import type { Context } from '../../core/context/context.js';
import { type Audit, type LivingNodes } from '../activity/index.js';
import { codeDefinition } from '../../core/permits/declared/node-code.js';
import { AlreadyDefinedError, DefinedInCodeError, NotInCodeError } from './definitions.errors.js';
import { UnknownSemaphoreError } from '../../core/permits/permits.errors.js';
import { Cell } from '../../core/cell/cell.js';
import type { SemaphoreCell, SemaphorePlan } from '../../core/cell/semaphore-records.js';
import type { SemaphoreListing } from '../../core/cell/semaphore-listing.js';
import { type ChangeOptions, parseChangeOptions } from '../../core/context/change-options.js';
import { BulkChanges } from './bulk-changes.js';
import { CHANGE_SETS } from './change-sets/change-set.js';
import { ChangeSets } from './change-sets/change-sets.js';
import type { BulkResult, DefinitionState, MigrationPlan, UndoPlan } from './answers.js';
import type { BulkRequest } from './bulk-request.js';
import type { DeclaredDefinitions } from '../../core/permits/declared/declared-definitions.js';
import { copiedState } from './definition-state.js';
import { DefinitionWriter, type RecordVisit } from './definition-writer.js';
import { Maintenance } from './maintenance/maintenance.js';
import type { MigrationOptions, MigrationRequest } from './migration-request.js';
import { Undo, type UndoOptions } from './undo/undo.js';

/** Fields that may be edited. */
export type DefinitionEdit = Partial<Omit<SemaphoreDefinitionInput, 'name'>>;

/**
 * The current definitions, and the changes by operators at run time. A change applies from the next decision of every
 * node. The record and the audit log show its author, time and reason.
 *
 * Errors of all changes: InvalidOptionsError listing every fault, EditConflictError if another revision was expected,
 * UnknownSemaphoreError if there is no such definition, and errors of a store that can't be asked.
 */
export class Definitions {
  private readonly writer: DefinitionWriter;
  private readonly bulk: BulkChanges;
  private readonly undoing: Undo;
  /** Maintenance windows: named pauses of many semaphores. */
  readonly maintenance: Maintenance;

  /**
   * @param cells.peek returns a cell for reading only; it is not kept in memory
   * @param cells.visit runs work with a cell; it is kept in memory only if the semaphore is in use
   * @param living knows the living nodes, and the definitions in their code
   */
  constructor(
    private readonly cells: {
      peek(name: string): SemaphoreCell;
      readonly visit: RecordVisit;
    },
    private readonly declared: DeclaredDefinitions,
    private readonly audit: Audit,
    private readonly context: Context,
    private readonly living: Pick<LivingNodes, 'nodes' | 'codes'>,
    listing: SemaphoreListing,
  ) {
    this.writer = new DefinitionWriter(cells.visit, declared, audit, context);
    const root = new Cell('root', CHANGE_SETS, context);
    const sets = new ChangeSets(root, context);
    this.bulk = new BulkChanges(
      listing,
      this.writer,
      sets,
      context,
      () => living.nodes(),
      (name) => declared.recordOf(name),
    );
    const peek = (name: string) => cells.peek(name);
    this.maintenance = new Maintenance(this.writer, root, sets, audit, context, listing);
    const expectRemovable = (name: string) => this.#expectRemovable(name);
    this.undoing = new Undo(this.writer, sets, audit, context, { peek, listing, expectRemovable });
  }

  /** The present definition of a semaphore. @returns undefined if there is none, or it was removed */
  get(name: string): Promise<DefinitionState | undefined> {
    return this.cells.peek(name).transact((record) => ({ result: copiedState(record, this.declared.get(name)) }));
  }

  /** Lists the faults of a definition, each as a sentence. Does not use the store. */
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
    expectDefinable(definition.name);
    return this.writer.change('define', definition.name, options, (record, change, view, nonce) => {
      if (record?.definition) throw new AlreadyDefinedError(definition.name, record.revision);
      if (record) return edit(record, definition, change, view, nonce);
      return { ...createRecord(definition, view.now, nonce), source: 'operator', change };
    });
  }

  /**
   * Changes the definition. Held permits are not revoked: if more are held than the new definition allows, the surplus is
   * not refreshed and expires. For a paused semaphore a new group pattern applies after the pause.
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
   * @throws NotInCodeError if this node's code has no definition of that name
   */
  async reset(name: string, options?: ChangeOptions): Promise<DefinitionState> {
    const definition = this.declared.get(name);
    if (!definition) throw new NotInCodeError(name);
    return this.writer.change('reset', name, options, (record, change, view, nonce) => {
      if (!record) throw new UnknownSemaphoreError(name);
      return adoptCode(record, codeDefinition(definition), change, view, nonce);
    });
  }

  /**
   * Removes a definition that no code has, with all its permits. If code defines the name later, it does not restore it: the
   * removal stays until `reset` or `define`.
   *
   * @returns false if there was none
   * @throws DefinedInCodeError if a living node's code defines the name: its job would never run again
   */
  async remove(name: string, options?: ChangeOptions): Promise<boolean> {
    const parsed = parseChangeOptions(name, options);
    await this.#expectRemovable(name);
    return this.writer.write('remove', name, parsed, {
      rewriting: (record, ...rest) => record && remove(record, ...rest),
      done: () => true,
      unchanged: () => false,
    });
  }

  /**
   * Revokes a permit. The holder's signal aborts as soon as its node notices the change.
   *
   * @returns false if the permit was no longer held
   */
  async revoke(name: string, permitId: string, options?: ChangeOptions): Promise<boolean> {
    expectChangeable(name);
    const author = this.writer.author(parseChangeOptions(name, options));
    let permit: StoredPermit | undefined;
    const entry = () => ({ action: 'revoke' as const, semaphore: name, ...author, ...(permit && { permit }) });
    const plan: SemaphorePlan<boolean> = (record, view, nonce) => {
      permit = record?.permits.find(({ id }) => id === permitId) ?? permit;
      const next = record && release(record, permitId, view, nonce);
      if (!next) return { result: false };
      const done = () => {
        this.audit.note(entry());
        return true;
      };
      const isDoneIn = (later: SemaphoreRecord | undefined, isUncertain: boolean) =>
        isUncertain && !later?.permits.some(({ id }) => id === permitId);
      return { write: next, done, isDoneIn };
    };
    return this.audit.evenIfUnknown(entry, () => this.cells.visit(name, (cell) => cell.transact(plan)));
  }

  /** Plans what {@link migrate} would do now. Writes nothing. */
  planMigration(request: MigrationRequest, options?: Pick<MigrationOptions, 'limit' | 'only'>): Promise<MigrationPlan> {
    return this.bulk.planMigration(request, options);
  }

  /**
   * Changes the patterns of many definitions, which moves their jobs to other nodes. Current runs may finish. A failed
   * step does not stop the others. A store that stops answering ends the call; repeat the call to continue with the
   * rest. For a paused semaphore the pattern after the pause is changed.
   *
   * @throws InvalidOptionsError for invalid options, including patterns
   * @throws NothingMatchesError if `names` matches no semaphore
   * @throws StoreUnavailableError (NoQuorumError) if nothing was done because the store can't be asked
   */
  migrate(request: MigrationRequest, options?: MigrationOptions): Promise<MigrationPlan> {
    return this.bulk.migrate(request, options);
  }

  /** Pauses all selected semaphores that are not paused, like {@link pause}. Same errors as {@link migrate}. */
  pauseAll(request?: BulkRequest): Promise<BulkResult> {
    return this.bulk.changeAll('pause', request, pause);
  }

  /** Resumes all selected semaphores that are paused. Same errors as {@link migrate}. */
  resumeAll(request?: BulkRequest): Promise<BulkResult> {
    return this.bulk.changeAll('resume', request, resume);
  }

  /**
   * Resets all selected semaphores that this node's code defines and that do not follow it, like {@link reset}: those that an
   * operator changed or removed, and those with another definition.
   *
   * @param request.names matches names in this node's code
   * @throws NotInCodeError if it matches none, and the same errors as {@link migrate}
   */
  resetAll(request?: BulkRequest): Promise<BulkResult> {
    return this.bulk.resetAll(this.declared.code, request, ({ source, fingerprint, definition }, code) => {
      return source !== 'code' || fingerprint !== code.fingerprint || definition === undefined;
    });
  }

  /** Plans what {@link undo} would do now. Writes nothing. Same errors, but none for a definition that has changed. */
  planUndo(id: string, options?: Pick<UndoOptions, 'limit' | 'only'>): Promise<UndoPlan> {
    return this.undoing.plan(id, options);
  }

  /**
   * Undoes a change: an entry of the audit log, or a change of many as a whole. Each undo is an ordinary edit, on
   * condition that the entry's change is still the last one of the definition. Removed permits do not come back. Of a
   * change of many, each definition that has changed since is left alone, and the result names it.
   *
   * @param id `id` or `bulk` of an entry
   * @throws EditConflictError if the definition of a single entry has changed since, with the author of that change
   * @throws UnknownEntryError if the audit log has no such entry
   * @throws UndoRefusedError for a kind of change that can't be undone, for example a revoke, and for a change of many that is
   *   no longer kept as a whole
   * @throws StoreUnavailableError (NoQuorumError) if nothing was done because the store can't be asked
   */
  undo(id: string, options?: UndoOptions): Promise<UndoPlan> {
    return this.undoing.undo(id, options);
  }

  /** @throws DefinedInCodeError, or StoreUnavailableError while the registry can't be read */
  async #expectRemovable(name: string): Promise<void> {
    expectChangeable(name);
    // An operator's definition needs no look at the registry.
    if (this.declared.isInShard(name)) return;
    const nodes = this.declared.nodesWith(name, (await this.living.codes()).codes);
    if (nodes.length > 0) throw new DefinedInCodeError(name, nodes);
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
    `name: ${show(changes.name)} would be another semaphore: define that one, and remove this one`,
  ]);
}

/**
 * Applies an edit. Unchanged patterns are not checked: an earlier version may have stored a pattern that costs too
 * much, and an operator must still be able to change the other fields.
 *
 * @throws InvalidOptionsError
 */
function edited(definition: SemaphoreDefinition, changes: DefinitionEdit, clockTolerance: number): SemaphoreDefinition {
  const { groupPattern, acquirerPattern, ...others } = definition;
  const { name } = definition;
  const parsed = parseDefinition({ ...others, ...omitUndefined(changes), name }, clockTolerance);
  return {
    ...parsed,
    ...(changes.groupPattern === undefined && { groupPattern }),
    ...(changes.acquirerPattern === undefined && { acquirerPattern }),
  };
}
