import {
  type DefinitionChange,
  type SemaphoreDefinition,
  type SemaphoreDefinitionInput,
  type SemaphoreRecord,
  type View,
  createRecord,
  edit,
  intendedDefinition,
  parseDefinition,
  pause,
  release,
  remove,
  resume,
} from '../../semaphores/index.js';
import type { Audit, AuditAction } from '../journals/index.js';
import type { Context } from '../context.js';
import { AlreadyDefinedError, EditConflictError, NotInCodeError, UnknownSemaphoreError } from '../gatekeeper.errors.js';
import type { RecordKeeper } from '../record-keeper.js';
import { type ChangeOptions, parseChangeOptions } from './change-options.js';
import type { CodeDefinitions } from './code-definitions.js';
import { type DefinitionState, definitionState } from './definition-state.js';

/** What may be edited. */
export type DefinitionEdit = Partial<Omit<SemaphoreDefinitionInput, 'name'>>;

/** The record with the change, or undefined when it is so already. */
type Rewriting = (
  record: SemaphoreRecord | undefined,
  change: DefinitionChange,
  view: View,
  nonce: string,
) => SemaphoreRecord | undefined;

/**
 * The definitions in force, and how operators change them while everything runs: a change is in force for the very next
 * decision of every node. Each is noted in the record and in the audit log: who, when, why.
 *
 * Errors of all changes: InvalidOptionsError listing every fault, EditConflictError when another revision was expected,
 * UnknownSemaphoreError when there is no such definition, and those of a store that can't be asked.
 */
export class Definitions {
  constructor(
    private readonly keeperOf: (name: string) => RecordKeeper,
    private readonly code: CodeDefinitions,
    private readonly audit: Audit,
    private readonly context: Context,
  ) {}

  /** @returns undefined when there is none, or it was removed */
  get(name: string): Promise<DefinitionState | undefined> {
    return this.keeperOf(name).transact((record) => ({ result: definitionState(record, this.code.get(name)) }));
  }

  /**
   * Defines a semaphore that nobody defined, or that was removed.
   *
   * @throws AlreadyDefinedError
   */
  async define(input: SemaphoreDefinitionInput, options?: ChangeOptions): Promise<DefinitionState> {
    const definition = parseDefinition(input, this.context.timing.clockTolerance);
    return this.#change('define', definition.name, options, (record, change, view, nonce) => {
      if (record?.definition) throw new AlreadyDefinedError(definition.name, record.revision);
      if (record) return edit(record, definition, change, view, nonce);
      return { ...createRecord(definition, view.now, nonce), change };
    });
  }

  /**
   * Puts another definition in force. Permits that are held stay; surplus ones run out. The group pattern of a paused
   * one is for afterwards.
   */
  async edit(name: string, changes: DefinitionEdit, options?: ChangeOptions): Promise<DefinitionState> {
    return this.#change('edit', name, options, (record, change, view, nonce) => {
      const definition = parseDefinition(
        { ...intended(name, record), ...given(changes), name },
        this.context.timing.clockTolerance,
      );
      return edit(record!, definition, change, view, nonce);
    });
  }

  /**
   * Nothing new runs until it is resumed; runs that go on may finish. The group pattern that comes back is remembered.
   * Of no effect on what is paused already.
   */
  pause(name: string, options?: ChangeOptions): Promise<DefinitionState> {
    return this.#change('pause', name, options, (record, ...rest) => pause(defined(name, record), ...rest));
  }

  /** Of no effect on what is not paused. */
  resume(name: string, options?: ChangeOptions): Promise<DefinitionState> {
    return this.#change('resume', name, options, (record, ...rest) => resume(defined(name, record), ...rest));
  }

  /**
   * Puts back what this node's code says, also of a semaphore that was removed.
   *
   * @throws NotInCodeError when this node's code says nothing of that name
   */
  async reset(name: string, options?: ChangeOptions): Promise<DefinitionState> {
    const definition = this.code.get(name);
    if (!definition) throw new NotInCodeError(name);
    return this.#change('reset', name, options, (record, change, view, nonce) => {
      if (!record) throw new UnknownSemaphoreError(name);
      return edit(record, definition, change, view, nonce);
    });
  }

  /**
   * Takes a definition away, with all its permits. Code does not bring it back: an operator's removal stays until
   * `reset` or `define`.
   *
   * @returns false when there was none
   */
  async remove(name: string, options?: ChangeOptions): Promise<boolean> {
    const parsed = parseChangeOptions(name, options);
    return this.#write('remove', name, parsed, {
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
    const { by, reason } = this.#author(parseChangeOptions(name, options));
    const revoked = await this.keeperOf(name).transact((record, view, nonce) => {
      const permit = record?.permits.find(({ id }) => id === permitId);
      const next = record && release(record, permitId, view, nonce);
      return next ? { write: next, done: () => permit } : { result: undefined };
    });
    if (!revoked) return false;
    this.audit.note({ action: 'revoke', semaphore: name, by, reason, permit: revoked });
    return true;
  }

  async #change(
    kind: DefinitionChange['kind'],
    name: string,
    options: ChangeOptions | undefined,
    rewriting: Rewriting,
  ): Promise<DefinitionState> {
    const state = (record: SemaphoreRecord | undefined) => definitionState(record, this.code.get(name))!;
    return this.#write(kind, name, parseChangeOptions(name, options), { rewriting, done: state, unchanged: state });
  }

  async #write<T>(
    kind: DefinitionChange['kind'],
    name: string,
    options: ChangeOptions,
    how: {
      readonly rewriting: Rewriting;
      readonly done: (next: SemaphoreRecord) => T;
      readonly unchanged: (record: SemaphoreRecord | undefined) => T;
    },
  ): Promise<T> {
    const id = this.context.random.id();
    let before: SemaphoreRecord | undefined;
    let after: SemaphoreRecord | undefined;
    const result = await this.keeperOf(name).transact<T>((record, view, nonce) => {
      // Its answer was lost and somebody wrote since: it was this very change that made the other revision.
      if (record?.change?.id === id) return { result: how.done((after = record)) };
      before = record;
      expectRevision(name, record, options.expectedRevision);
      const change = { id, kind, ...this.#author(options), at: view.now };
      const next = how.rewriting(record, change, view, nonce);
      if (!next) return { result: how.unchanged(record) };
      return { write: next, done: () => how.done((after = next)) };
    });
    if (after) this.#note(kind, name, options, before, after);
    return result;
  }

  #note(
    action: AuditAction,
    semaphore: string,
    options: ChangeOptions,
    before: SemaphoreRecord | undefined,
    after: SemaphoreRecord,
  ): void {
    const from = before && intendedDefinition(before);
    const to = intendedDefinition(after);
    const { revision } = after;
    this.audit.note({
      action,
      semaphore,
      ...this.#author(options),
      revision,
      ...(from && { from }),
      ...(to && { to }),
    });
  }

  #author({ by = this.context.node.acquirer, reason }: ChangeOptions): { by: string; reason?: string } {
    return { by, ...(reason !== undefined && { reason }) };
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

/** @throws EditConflictError that says who was faster */
function expectRevision(name: string, record: SemaphoreRecord | undefined, expected: number | undefined): void {
  if (expected === undefined || record?.revision === expected) return;
  throw new EditConflictError(name, expected, record?.revision ?? 0, record?.change);
}

/** Without what is undefined: a field that an editor left out keeps its value, and is not set to its default. */
function given<T extends object>(change: T): Partial<T> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<T>;
}
