import { z } from 'zod';
import { type SemaphoreRecord, messageOf, onlyFields, putBack } from '../../../core/decision/index.js';
import type { Audit } from '../../activity/index.js';
import { type Pieces, inSlices } from '../../../core/async/slices.js';
import type { AuditEntry } from '../../../core/context/audit-entry.js';
import { type Context, timeOf } from '../../../core/context/context.js';
import type { SemaphoreListing } from '../../../core/cell/semaphore-listing.js';
import type { SemaphoreCell } from '../../../core/cell/semaphore-records.js';
import { forEachLimit } from '../../../core/async/for-each-limit.js';
import { bulkFields, parsedBy } from '../bulk-request.js';
import { reasonSchema } from '../../../core/context/change-options.js';
import type { DefinitionWriter } from '../definition-writer.js';
import { EditConflictError, UndoRefusedError, UnknownEntryError } from '../definitions.errors.js';
import { eachWhileAnswered } from '../each-while-answered.js';
import {
  type Present,
  type UndoStep,
  type UndoableEntry,
  beforeMarks,
  formerState,
  isAsBefore,
  isStillLast,
  isUndoable,
  kindOfUndo,
  lastChanges,
  laterChange,
  missingParts,
  planStep,
  refusalOf,
} from './undo-plan.js';

/** Selects the steps of an undo, and says who undoes, and why. */
export interface UndoOptions {
  /** The author. Default: the node's own acquirer name. */
  readonly by?: string;
  /** Why, for the audit log. Default: a sentence with the kind and the author of the undone change. */
  readonly reason?: string;
  /** Largest number of changes in one call. Default: no limit. */
  readonly limit?: number;
  /** Filter: an entry of a semaphore for which it returns false is skipped, as if the log did not have it. */
  readonly only?: (name: string) => boolean;
  /** `bulk` of the call before, if this call continues an undo. Default: a new id. */
  readonly bulk?: string;
  /**
   * Called once before the first change, with the steps. If it throws, nothing is changed, and the call fails with this
   * error.
   */
  readonly onPlanned?: (steps: readonly UndoStep[]) => void;
}

/** The changes that an undo makes, by name. */
export interface UndoPlan {
  /** Id of the entry, or of the change of many. */
  readonly id: string;
  /** The author of the change that is undone. */
  readonly by: string;
  /** Cluster time of the change in ms; of a change of many: of its first part. */
  readonly at: number;
  /** The reason of the change. */
  readonly reason?: string;
  /** One step for each entry, in the order of names. */
  readonly steps: readonly UndoStep[];
  /** Number of steps that are left for the next call. */
  readonly remaining: number;
  /**
   * Number of parts of a change of many that are not undone, because the audit log no longer has them. At least so many if
   * several nodes made the parts.
   */
  readonly missing: number;
  /** After a change: the id that its entries share. The undo can be undone with it. */
  readonly bulk?: string;
}

const ADVICE = 'undo that change first, or edit the definition';

const optionsSchema = onlyFields({
  by: bulkFields.by,
  reason: bulkFields.reason,
  limit: bulkFields.limit,
  only: bulkFields.only,
  bulk: bulkFields.bulk,
  onPlanned: z.custom<UndoOptions['onPlanned']>((value) => typeof value === 'function').optional(),
});

/**
 * Undoes entries of the audit log. An undo is an ordinary edit on condition that the entry's change is still the last
 * one of the definition, so it never overwrites a later change.
 */
export class Undo {
  constructor(
    private readonly writer: DefinitionWriter,
    private readonly audit: Audit,
    private readonly context: Context,
    private readonly records: {
      readonly peek: (name: string) => SemaphoreCell;
      readonly listing: SemaphoreListing;
      /** Rejects if the code of a living node defines a name. */
      readonly expectRemovable: (name: string) => Promise<void>;
    },
  ) {}

  async plan(id: string, { limit, only }: Pick<UndoOptions, 'limit' | 'only'> = {}): Promise<UndoPlan> {
    parsedBy(optionsSchema, 'an undo', { limit, only });
    const { facts, steps } = await this.#planned(id, only);
    const due = steps.filter(isPlanned).length;
    return {
      ...facts,
      steps: limited(steps, limit).toSorted(byName),
      remaining: Math.max(0, due - (limit ?? Infinity)),
    };
  }

  async undo(id: string, options: UndoOptions = {}): Promise<UndoPlan> {
    const {
      limit,
      only,
      onPlanned,
      bulk = this.context.random.id(),
      ...author
    } = parsedBy(optionsSchema, 'an undo', options);
    const { facts, steps, entries, lasts, marks, isMany } = await this.#planned(id, only);
    const shown = limited(steps, limit);
    // A single entry is tried in any case: its error says who changed the definition since.
    const due = isMany ? shown.filter(isPlanned) : shown;
    onPlanned?.(due);
    if (options.bulk !== undefined) await this.audit.goOn(bulk);
    const ended = new Map<string, UndoStep>();
    const failed = await eachWhileAnswered(due, this.context, async (step) => {
      const found = { last: lasts.get(step.name), marks };
      ended.set(step.name, await this.#undoOne(entries.get(step.name)!, step, { bulk, ...found, ...author }));
    });
    for (const [step, error] of failed) {
      if (!isMany) throw error;
      const outcome = error instanceof EditConflictError ? 'left' : 'failed';
      ended.set(step.name, { ...step, outcome, why: messageOf(error) });
    }
    const done = shown.flatMap((step) => ended.get(step.name) ?? (isPlanned(step) ? [] : [step]));
    const remaining = steps.filter((step) => isPlanned(step) && !ended.has(step.name)).length;
    return { ...facts, steps: done.toSorted(byName), remaining, bulk };
  }

  async #planned(id: string, only: (name: string) => boolean = () => true) {
    const { nodeClock } = this.context;
    const whole = await this.audit.whole();
    const { found, missing, ...changes } = await inSlices(lookedUp(whole, id, only), nodeClock);
    const entries = new Map(found.map((entry) => [entry.semaphore, entry]));
    const records = await this.#records([...entries.keys()]);
    const steps = await inSlices(plannedSteps(entries, { records, ...changes }, timeOf(this.context)), nodeClock);
    const { by, at, reason } = found[0]!;
    const facts = { id, by, at, ...(reason !== undefined && { reason }), missing };
    return { facts, steps, entries, ...changes, isMany: found[0]!.id !== id };
  }

  async #records(names: readonly string[]): Promise<ReadonlyMap<string, SemaphoreRecord>> {
    const wanted = new Set(names);
    const isWanted = (name: string) => wanted.has(name);
    const records = new Map(names.length > 1 ? (await this.records.listing.listChangeable(isWanted)).records : []);
    // Also those that a listing leaves out, for example removed ones.
    const others = names.filter((name) => !records.has(name));
    await forEachLimit(others, async (name) => {
      const record = await this.records.peek(name).transact((found) => ({ result: found }));
      if (record) records.set(name, record);
    });
    return records;
  }

  async #undoOne(
    entry: UndoableEntry,
    step: UndoStep,
    {
      bulk,
      by,
      reason = reasonOf(entry),
      ...present
    }: Pick<UndoOptions, 'bulk' | 'by' | 'reason'> & Omit<Present, 'record'>,
  ): Promise<UndoStep> {
    const author = { reason, ...(by !== undefined && { by }) };
    const kind = kindOfUndo(entry);
    if (kind === 'remove') await this.records.expectRemovable(entry.semaphore);
    return this.writer.write<UndoStep>(kind, entry.semaphore, author, {
      rewriting: (record, ...rest) => {
        if (isAsBefore(entry, record)) return undefined;
        expectStillLast(entry, { record, ...present });
        return putBack(record!, formerState(entry), ...rest);
      },
      done: () => ({ ...step, outcome: 'undone' }),
      unchanged: () => ({ ...step, outcome: 'unchanged' }),
      marks: { bulk, undoes: entry.id, undoesBulk: entry.bulk },
    });
  }
}

/** Looks up a change in the log, and what came after it. @throws UnknownEntryError, UndoRefusedError */
function* lookedUp(whole: readonly AuditEntry[], id: string, only: (name: string) => boolean) {
  const log: AuditEntry[] = [];
  for (const entry of whole) {
    yield 1;
    if (only(entry.semaphore)) log.push(entry);
  }
  const found = entriesOf(log, id);
  // Of all names: a part that the caller may not see is not missing.
  const missing = yield* missingParts(whole, id);
  return { found, missing, lasts: yield* lastChanges(log), marks: yield* beforeMarks(log) };
}

function* plannedSteps(
  entries: ReadonlyMap<string, UndoableEntry>,
  { records, lasts, marks }: Pick<Present, 'marks'> & Found,
  now: number,
): Pieces<UndoStep[]> {
  const steps: UndoStep[] = [];
  for (const [name, entry] of entries) {
    steps.push(planStep(entry, { record: records.get(name), last: lasts.get(name), marks }, now));
    yield 1;
  }
  return steps;
}

interface Found {
  readonly records: ReadonlyMap<string, SemaphoreRecord>;
  readonly lasts: ReadonlyMap<string, UndoableEntry>;
}

/** @throws UnknownEntryError, UndoRefusedError */
function entriesOf(log: readonly AuditEntry[], id: string): UndoableEntry[] {
  const one = log.find((entry) => entry.id === id);
  const found = one ? [one] : log.filter(({ bulk }) => bulk === id);
  if (found.length === 0) throw new UnknownEntryError(id);
  const undoable = found.filter(isUndoable);
  if (undoable.length === 0) throw new UndoRefusedError(id, refusalOf(found[0]!)!);
  return undoable;
}

function isPlanned({ outcome }: UndoStep): boolean {
  return outcome === 'planned';
}

/**
 * The steps are in the order of the log. So the entries of the undo push those parts out of a full log that are undone already.
 */
function limited(steps: readonly UndoStep[], limit = Infinity): UndoStep[] {
  let due = 0;
  return steps.filter((step) => !isPlanned(step) || ++due <= limit);
}

/** @throws EditConflictError with the author of the later change */
function expectStillLast(entry: UndoableEntry, present: Present): void {
  if (isStillLast(entry, present)) return;
  const { semaphore, revision } = entry;
  const found = present.record?.revision ?? 0;
  throw new EditConflictError(semaphore, revision, found, laterChange(entry, present), ADVICE);
}

/** The entry may come from another program, so its texts are checked like a person's. */
function reasonOf({ action, by, reason }: AuditEntry): string {
  const full = `undo of ${action} by ${by}${reason === undefined ? '' : `: ${reason}`}`;
  return reasonSchema.safeParse(full).success ? full : `undo of ${action}`;
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}
