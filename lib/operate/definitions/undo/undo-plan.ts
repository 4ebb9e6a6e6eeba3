import {
  type DefinitionChange,
  type FormerState,
  type SemaphoreRecord,
  intendedDefinition,
  sameDefinition,
  show,
} from '../../../core/decision/index.js';
import type { Pieces } from '../../../core/async/slices.js';
import type { AuditEntry } from '../../../core/context/answers.js';
import type { SetEntry } from '../change-sets/change-set.js';
import type { ChangeSet } from '../change-sets/change-sets.js';
import { FORMER_VERSION, NOT_MADE, refusalOfKind } from './refusals.js';
import type { UndoStep } from '../answers.js';

/** A change of a definition that can be undone: an entry of the audit log, or of a change set. */
export interface UndoableChange extends Pick<
  AuditEntry,
  'semaphore' | 'at' | 'by' | 'reason' | 'from' | 'paused' | 'bulk'
> {
  readonly id: string;
  readonly revision: number;
  readonly action: DefinitionChange['kind'];
}

/** An entry of the audit log that can be undone. */
export type UndoableEntry = AuditEntry & UndoableChange;

/** An entry of a change set, as a change that can be undone. */
export function undoableOf(
  { name, change, action, revision, before }: SetEntry & { readonly before: FormerState },
  { id, at, by, reason }: Pick<ChangeSet, 'id' | 'at' | 'by' | 'reason'>,
): UndoableChange {
  return {
    id: change,
    at,
    action,
    semaphore: name,
    by,
    ...(reason !== undefined && { reason }),
    revision,
    ...(before.definition && { from: before.definition }),
    ...(before.pause && { paused: before.pause }),
    bulk: id,
  };
}

/** @returns why the entry can't be undone at all; undefined if it can */
export function refusalOf({ action, id, revision, outcome }: AuditEntry): string | undefined {
  const refusal = refusalOfKind(action);
  if (refusal !== undefined) return refusal;
  if (outcome === 'not-made') return NOT_MADE;
  return id === undefined || revision === undefined ? FORMER_VERSION : undefined;
}

export function isUndoable(entry: AuditEntry): entry is UndoableEntry {
  return refusalOf(entry) === undefined;
}

/** The state before the change of an entry. */
export function formerState({ from, paused }: UndoableChange): FormerState {
  return { definition: from, pause: paused };
}

/** The kind of the edit that undoes an entry. */
export function kindOfUndo({ action, from }: UndoableChange): DefinitionChange['kind'] {
  if (!from) return 'remove';
  if (action === 'remove') return 'define';
  if (action === 'pause') return 'resume';
  if (action === 'resume') return 'pause';
  return action === 'migrate' ? 'migrate' : 'edit';
}

/** By semaphore, the last change of its definition in the audit log. */
export function* lastChanges(log: readonly AuditEntry[]): Pieces<ReadonlyMap<string, UndoableEntry>> {
  const last = new Map<string, UndoableEntry>();
  for (const entry of log) {
    yield 1;
    if (!isUndoable(entry)) continue;
    // Nodes write the log a moment later, so its order may differ from that of the changes.
    if (entry.revision >= (last.get(entry.semaphore)?.revision ?? 0)) last.set(entry.semaphore, entry);
  }
  return last;
}

function realBefore(id: string, marks: ReadonlyMap<string, string>): string {
  let real = id;
  // Entries may come from other programs, so they may go round in a circle.
  for (let steps = 0; steps <= marks.size && marks.has(real); steps++) real = marks.get(real)!;
  return real;
}

/** The present state that an undo starts from. */
export interface Present {
  readonly record: SemaphoreRecord | undefined;
  /** The last change in the audit log. */
  readonly last: UndoableEntry | undefined;
  /** {@link beforeMarks} of the log. */
  readonly marks: ReadonlyMap<string, string>;
}

/**
 * Ids of changes that changed nothing, each with the id of the last real change before it. A window that ends before it has
 * paused a semaphore leaves such a change, which must not stand in the way of an undo.
 */
export function* beforeMarks(log: readonly AuditEntry[]): Pieces<ReadonlyMap<string, string>> {
  const marks = new Map<string, string>();
  // Only a window writes a resume of a semaphore that was not paused.
  for (const { id, action, paused, follows } of log) {
    yield 1;
    if (action === 'resume' && !paused && id !== undefined && follows !== undefined) marks.set(id, follows);
  }
  return new Map([...marks.keys()].map((id) => [id, realBefore(id, marks)]));
}

/** Whether the entry's change is still the last one of the definition. */
export function isStillLast({ id, action, revision }: UndoableChange, { record, last, marks }: Present): boolean {
  if (record?.change) return record.change.id === id || marks.get(record.change.id) === id;
  // The removal of an operator's definition in a shard leaves only the shard's revision, which other names raise, too. Only
  // the log shows whether the name was defined and removed once more.
  const isRemoved = record !== undefined && action === 'remove' && !record.definition && record.revision >= revision;
  return isRemoved && (last === undefined || last.id === id || last.revision <= revision);
}

/** The change that came after the entry's, if it is known. */
export function laterChange(
  { id: own, revision }: UndoableChange,
  { record, last }: Present,
): DefinitionChange | undefined {
  if (record?.change || !last || last.id === own || last.revision <= revision) return record?.change;
  const { id, action: kind, by, at, reason } = last;
  return { id, kind, by, at, ...(reason !== undefined && { reason }) };
}

/** Whether the record is as it was before the entry's change. */
export function isAsBefore({ from, paused }: UndoableChange, record: SemaphoreRecord | undefined): boolean {
  const present = record && intendedDefinition(record);
  if (!present || !from) return !present && !from;
  return sameDefinition(present, from) && (record.pause !== undefined) === (paused !== undefined);
}

/** Plans the undo of one entry. Pure. @param now cluster time in ms */
export function planStep(entry: UndoableChange, present: Present, now: number): UndoStep {
  const { record } = present;
  const kind = kindOfUndo(entry);
  const from = record && intendedDefinition(record);
  const held = record?.permits.filter(({ expiresAt }) => expiresAt > now).length ?? 0;
  const step = {
    name: entry.semaphore,
    entry: entry.id,
    action: entry.action,
    kind,
    ...(from && { from }),
    ...(entry.from && { to: entry.from }),
    isPaused: record?.pause !== undefined,
    willBePaused: entry.paused !== undefined,
    revokes: kind === 'remove' ? held : 0,
  };
  if (isAsBefore(entry, record)) return { ...step, outcome: 'unchanged' };
  if (isStillLast(entry, present)) return { ...step, outcome: 'planned' };
  return { ...step, outcome: 'left', why: changedSince(record, laterChange(entry, present)) };
}

/** Says who changed a definition last, and when. @param change the last change; default: as the record says */
export function changedSince(record: SemaphoreRecord | undefined, change = record?.change): string {
  if (!change) return record?.definition ? 'it was defined again since' : 'its definition is gone';
  const why = change.reason === undefined ? '' : `: ${change.reason}`;
  return `changed since (${change.kind} by ${show(change.by)} at ${new Date(change.at).toISOString()}${why})`;
}
