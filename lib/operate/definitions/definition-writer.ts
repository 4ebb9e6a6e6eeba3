import {
  CorruptRecordError,
  type DefinitionChange,
  MATCHES_NONE,
  type SemaphoreDefinition,
  type SemaphoreRecord,
  type View,
  expectChangeable,
  expectOneLeader,
  omitUndefined,
  hasRoom,
  intendedDefinition,
  quoted,
  replaceUnreadable,
} from '../../core/decision/index.js';
import type { Context } from '../../core/context/context.js';
import { UnknownOutcomeError } from '../../core/store/index.js';
import { EditConflictError } from './definitions.errors.js';
import { UnknownSemaphoreError } from '../../core/permits/permits.errors.js';
import type { Audit } from '../activity/index.js';
import type { AuditEntry } from '../../core/context/answers.js';
import type { SemaphoreCell, SemaphorePlan } from '../../core/cell/semaphore-records.js';
import { type ChangeOptions, authorOf, parseChangeOptions } from '../../core/context/change-options.js';
import type { DeclaredDefinitions } from '../../core/permits/declared/declared-definitions.js';
import type { DefinitionState } from './answers.js';
import { copiedState } from './definition-state.js';

/** Returns the changed record, or undefined if nothing has to change. */
export type Rewriting = (
  record: SemaphoreRecord | undefined,
  change: DefinitionChange,
  view: View,
  nonce: string,
) => SemaphoreRecord | undefined;

/** Runs `work` with the record cell of a name. Keeps nothing in memory for a name that has no record in the store. */
export type RecordVisit = <T>(name: string, work: (cell: SemaphoreCell) => Promise<T>) => Promise<T>;

/** Additional data of a change in the audit log. */
export interface Marks {
  /** Id of the change. Default: a new one. */
  readonly id?: string | undefined;
  /** The same for all changes of one change of many. */
  readonly bulk?: string | undefined;
  /** Number of the change in that change of many, from 1. */
  readonly part?: number | undefined;
  /** Id of the entry of the audit log that the change undoes. */
  readonly undoes?: string | undefined;
  /** `bulk` of that entry. */
  readonly undoesBulk?: string | undefined;
}

/** Changes that also replace a record that can't be read, unless they expect a revision. */
const REPAIRS: ReadonlySet<DefinitionChange['kind']> = new Set(['reset', 'remove']);

/** Writes changes of definitions, with author, time and reason, into the record and the audit log. */
export class DefinitionWriter {
  constructor(
    private readonly visit: RecordVisit,
    private readonly declared: DeclaredDefinitions,
    private readonly audit: Audit,
    private readonly context: Context,
  ) {}

  /** Writes a change that leaves a definition. @returns the definition after the change */
  async change(
    kind: DefinitionChange['kind'],
    name: string,
    options: ChangeOptions | undefined,
    rewriting: Rewriting,
  ): Promise<DefinitionState> {
    const state = (record: SemaphoreRecord | undefined) => copiedState(record, this.declared.get(name))!;
    return this.write(kind, name, parseChangeOptions(name, options), { rewriting, done: state, unchanged: state });
  }

  async write<T>(
    kind: DefinitionChange['kind'],
    name: string,
    options: ChangeOptions,
    how: {
      readonly rewriting: Rewriting;
      readonly done: (next: SemaphoreRecord) => T;
      readonly unchanged: (record: SemaphoreRecord | undefined) => T;
      readonly marks?: Marks | undefined;
    },
  ): Promise<T> {
    expectChangeable(name);
    const { id = this.context.random.id(), ...marks } = how.marks ?? {};
    const entry = { action: kind, semaphore: name, id, ...marks, ...this.author(options) };
    let tried: { readonly before: SemaphoreRecord | undefined; readonly next: SemaphoreRecord } | undefined;
    let isDoubtful = false;
    const plan: SemaphorePlan<T> = (record, view, nonce) => {
      expectRevision(kind, name, record, options.expectedRevision);
      const change = { id, kind, ...this.author(options), at: view.now };
      const next = how.rewriting(record, change, view, nonce);
      if (!next) return { result: how.unchanged(record) };
      if (next.definition) expectOneLeader(next.definition);
      const done = () => {
        // The audit entry is made at once, before the next call for this semaphore, so that the log shows a change
        // before its consequences.
        this.#note(entry, record, next);
        tried = undefined;
        return how.done(next);
      };
      const isDoneIn = (later: SemaphoreRecord | undefined, isUncertain: boolean) => {
        isDoubtful ||= isUncertain;
        return later?.change?.id === id || (kind === 'remove' && isUncertain && isGone(later, next));
      };
      tried = { before: record, next };
      return { write: next, done, isDoneIn };
    };
    try {
      const mayRepair = REPAIRS.has(kind) && options.expectedRevision === undefined;
      return await this.visit(name, (cell) => (mayRepair ? this.#orRepaired(cell, plan) : cell.transact(plan)));
    } catch (error) {
      isDoubtful ||= error instanceof UnknownOutcomeError;
      throw error;
    } finally {
      // A second call finds the change made, and has no entry for it. So this call leaves one, which each reader settles.
      if (tried && isDoubtful) this.#note({ ...entry, outcome: 'unknown' }, tried.before, tried.next);
    }
  }

  /** The author of a change. Default: this node. */
  author(options: ChangeOptions): ReturnType<typeof authorOf> {
    return authorOf(options, this.context.node);
  }

  /** Replaces a record that can't be read, and then makes the change. Both are the operator's. */
  async #orRepaired<T>(cell: SemaphoreCell, plan: SemaphorePlan<T>): Promise<T> {
    const { name } = cell;
    const definition = this.declared.get(name) ?? grantingNothing(name);
    const inOrder: SemaphorePlan<T> = (record, ...rest) => {
      if (record && !hasRoom(record))
        throw new CorruptRecordError(`the counts of ${quoted(name)} are damaged: reset it`);
      return plan(record, ...rest);
    };
    try {
      return await cell.transact(inOrder);
    } catch (error) {
      if (!(error instanceof CorruptRecordError)) throw error;
      if (!(await cell.repair((known, ...rest) => replaceUnreadable(known, definition, ...rest)))) throw error;
      return cell.transact(plan);
    }
  }

  #note(
    {
      bulk,
      part,
      undoes,
      undoesBulk,
      ...entry
    }: Pick<AuditEntry, 'action' | 'semaphore' | 'by' | 'reason' | 'outcome'> & Marks,
    before: SemaphoreRecord | undefined,
    { revision, ...after }: SemaphoreRecord,
  ): void {
    const from = before && intendedDefinition(before);
    const to = intendedDefinition(after);
    this.audit.note({
      ...entry,
      revision,
      ...(from && { from }),
      ...(before?.pause && { paused: before.pause }),
      ...(to && { to }),
      ...(before?.change && { follows: before.change.id }),
      ...omitUndefined({ bulk, part, undoes, undoesBulk }),
    });
  }
}

/** The definition of a record that can't be read, and is removed. */
function grantingNothing(name: string): SemaphoreDefinition {
  return { name, groupPattern: MATCHES_NONE, acquirerPattern: MATCHES_NONE, permits: 0, duration: 1000 };
}

/** Whether a definition in a shard was removed. After that, only the shard's revision shows the removal. */
function isGone(later: SemaphoreRecord | undefined, removed: SemaphoreRecord): boolean {
  return later !== undefined && !later.change && later.revision >= removed.revision;
}

/** @throws EditConflictError with the author of the other change, UnknownSemaphoreError for a name that never had one */
function expectRevision(
  kind: DefinitionChange['kind'],
  name: string,
  record: SemaphoreRecord | undefined,
  expected: number | undefined,
): void {
  if (expected === undefined || record?.revision === expected) return;
  const isUnknown = !record?.definition && !record?.change;
  if (isUnknown && kind !== 'define') throw new UnknownSemaphoreError(name);
  throw new EditConflictError(name, expected, record?.revision ?? 0, record?.change);
}
