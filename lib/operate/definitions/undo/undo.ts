import { z } from 'zod';
import { type SemaphoreRecord, messageOf, onlyFields, putBack } from '../../../core/decision/index.js';
import type { Audit } from '../../activity/index.js';
import { type Pieces, inSlices } from '../../../core/async/slices.js';
import type { AuditEntry } from '../../../core/context/answers.js';
import { type Context, timeOf } from '../../../core/context/context.js';
import type { SemaphoreListing } from '../../../core/cell/semaphore-listing.js';
import type { SemaphoreCell } from '../../../core/cell/semaphore-records.js';
import { forEachLimit } from '../../../core/async/for-each-limit.js';
import { bulkFields, parsedBy } from '../bulk-request.js';
import { reasonSchema } from '../../../core/context/change-options.js';
import type { ChangeSet, ChangeSets, ListedChange } from '../change-sets/change-sets.js';
import type { DefinitionWriter } from '../definition-writer.js';
import { EditConflictError, UndoRefusedError, UnknownEntryError } from '../definitions.errors.js';
import { eachWhileAnswered } from '../each-while-answered.js';
import type { UndoStep, UndoPlan } from '../answers.js';
import {
  type Present,
  type UndoableChange,
  type UndoableEntry,
  beforeMarks,
  formerState,
  isAsBefore,
  isStillLast,
  isUndoable,
  lastChanges,
  laterChange,
  planStep,
  refusalOf,
  undoableOf,
} from './undo-plan.js';

/** Selects the steps of an undo, and says who undoes, and why. */
export interface UndoOptions {
  /** The author. Default: the node's own acquirer name. */
  readonly by?: string;
  /** Why, for the audit log. Default: a sentence with the kind and the author of the undone change. */
  readonly reason?: string;
  /** Largest number of changes in one call. Default: no limit. */
  readonly limit?: number;
  /** Filter: a change of a semaphore for which it returns false is skipped, as if it had not been made. */
  readonly only?: (name: string) => boolean;
  /** `bulk` of the call before, if this call continues an undo. Default: a new id. */
  readonly bulk?: string;
  /**
   * Called once before the first change, with the steps. If it throws, nothing is changed, and the call fails with this
   * error.
   */
  readonly onPlanned?: (steps: readonly UndoStep[]) => void;
}

const UNREAD = 'the records could not be read before it; reset or edit the definitions';
const LOST = 'the store has lost what was before it; reset or edit the definitions';
const NO_SET = 'it is no longer kept as a whole; undo its entries one by one';
const ADVICE = 'undo that change first, or edit the definition';

const optionsSchema = onlyFields({
  by: bulkFields.by,
  reason: bulkFields.reason,
  limit: bulkFields.limit,
  only: bulkFields.only,
  bulk: bulkFields.bulk,
  onPlanned: z.custom<UndoOptions['onPlanned']>((value) => typeof value === 'function').optional(),
});

/** A change to undo: that of one entry of the audit log, or all that a change set lists. */
interface Found {
  readonly changes: readonly UndoableChange[];
  readonly missing: number;
  /** The later changes, from the audit log. Absent if the log was not read. */
  readonly history?: History;
}

/** Later changes, from the audit log: the last one of each definition, and those that changed nothing. */
type History = Omit<Present, 'record' | 'last'> & { readonly lasts: ReadonlyMap<string, UndoableEntry> };

/** Of no use if each definition shows by itself that the change to undo is its last one. */
const NO_HISTORY: History = { lasts: new Map(), marks: new Map() };

/**
 * Undoes entries of the audit log, and change sets. An undo is an ordinary edit on condition that the change to undo is still
 * the last one of the definition, so it never overwrites a later change. It is a change set itself, and can be undone.
 *
 * The set of a change of many says which changes were meant, and the state before each. Which of them were made, the records
 * say. The log is only read for a single change, and to name later changes that the records do not name.
 */
export class Undo {
  constructor(
    private readonly writer: DefinitionWriter,
    private readonly sets: ChangeSets,
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
    const { facts, steps, changes, records, history, isMany } = await this.#planned(id, only);
    const shown = limited(steps, limit);
    // A single change is tried in any case: its error says who changed the definition since.
    const due = isMany ? shown.filter(isPlanned) : shown;
    onPlanned?.(due);
    const { reason = reasonOf(facts, due[0]) } = author;
    const set = { id: bulk, kind: 'undo' as const, ...this.writer.author({ ...author, reason }) };
    const planned = due.map(({ name, kind }) => ({ name, action: kind, record: records.get(name) }));
    const listed = await this.sets.list(set, planned, author.by);
    const ended = new Map<string, UndoStep>();
    const failed = await eachWhileAnswered([...due.entries()], this.context, async ([index, step]) => {
      const present = { last: history.lasts.get(step.name), marks: history.marks };
      const how = { listed: listed[index]!, present, bulk, author };
      ended.set(step.name, await this.#undoOne(changes.get(step.name)!, step, how));
    });
    for (const [[, step], error] of failed) {
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
    const set = await this.sets.find(id);
    const found = set ? ofSet(set, only) : await this.#ofLog(id, only);
    const records = await this.#records([...new Set(found.changes.map(({ semaphore }) => semaphore))]);
    const changes = await inSlices(onePerName(found.changes, records), nodeClock);
    const history = found.history ?? (await this.#historyOf(changes, records, only));
    const steps = await inSlices(plannedSteps(changes, { records, ...history }, timeOf(this.context)), nodeClock);
    const { by, at, reason } = found.changes[0]!;
    const facts = { id, by, at, ...(reason !== undefined && { reason }), missing: found.missing };
    return { facts, steps, changes, records, history, isMany: found.changes[0]!.id !== id };
  }

  /** @throws UnknownEntryError, UndoRefusedError */
  async #ofLog(id: string, only: (name: string) => boolean): Promise<Found> {
    const { log, history } = await this.#history(only);
    return { changes: [entryOf(log, id)], missing: 0, history };
  }

  /** Reads the log only if a definition does not show by itself that the change to undo is its last one. */
  async #historyOf(
    changes: ReadonlyMap<string, UndoableChange>,
    records: ReadonlyMap<string, SemaphoreRecord>,
    only: (name: string) => boolean,
  ): Promise<History> {
    const isClear = (change: UndoableChange) => {
      const record = records.get(change.semaphore);
      return record?.change?.id === change.id || isAsBefore(change, record);
    };
    return [...changes.values()].every(isClear) ? NO_HISTORY : (await this.#history(only)).history;
  }

  async #history(only: (name: string) => boolean) {
    return inSlices(lookedUp(await this.audit.whole(), only), this.context.nodeClock);
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
    change: UndoableChange,
    step: UndoStep,
    {
      listed,
      present,
      bulk,
      author: { by, reason = reasonOf(change, change) },
    }: {
      readonly listed: ListedChange;
      readonly present: Omit<Present, 'record'>;
      readonly bulk: string;
      readonly author: Pick<UndoOptions, 'by' | 'reason'>;
    },
  ): Promise<UndoStep> {
    const author = { reason, ...(by !== undefined && { by }) };
    const { action: kind } = listed;
    if (kind === 'remove') await this.records.expectRemovable(change.semaphore);
    return this.writer.write<UndoStep>(kind, change.semaphore, author, {
      rewriting: (record, ...rest) => {
        if (isAsBefore(change, record)) return undefined;
        expectStillLast(change, { record, ...present });
        return putBack(record!, formerState(change), ...rest);
      },
      done: () => ({ ...step, outcome: 'undone' }),
      unchanged: () => ({ ...step, outcome: 'unchanged' }),
      marks: { id: listed.change, bulk, part: listed.part, undoes: change.id, undoesBulk: change.bulk },
    });
  }
}

/** The log without what the caller may not see, and what it says of later changes. */
function* lookedUp(whole: readonly AuditEntry[], only: (name: string) => boolean) {
  const log: AuditEntry[] = [];
  for (const entry of whole) {
    yield 1;
    if (only(entry.semaphore)) log.push(entry);
  }
  return { log, history: { lasts: yield* lastChanges(log), marks: yield* beforeMarks(log) } };
}

/** @throws UnknownEntryError if the caller may see none of its names, UndoRefusedError if no state before it is known */
function ofSet(set: ChangeSet, only: (name: string) => boolean): Found {
  const entries = set.entries.filter(({ name }) => only(name));
  if (set.entries.length === 0 && set.missing > 0) throw new UndoRefusedError(set.id, LOST);
  if (entries.length === 0) throw new UnknownEntryError(set.id);
  const changes = entries.flatMap(({ before, ...entry }) => (before ? [undoableOf({ ...entry, before }, set)] : []));
  if (changes.length === 0) throw new UndoRefusedError(set.id, UNREAD);
  return { changes, missing: set.missing };
}

/**
 * The changes by names. A name has several if calls listed it again: then the one that was made and is still the last, or else
 * the latest. A window lists a pause again under the same id, so the revision tells from which state it was made.
 */
function* onePerName(
  changes: readonly UndoableChange[],
  records: ReadonlyMap<string, SemaphoreRecord>,
): Pieces<ReadonlyMap<string, UndoableChange>> {
  const byNames = new Map<string, UndoableChange>();
  for (const change of changes) {
    yield 1;
    const former = byNames.get(change.semaphore);
    const record = records.get(change.semaphore);
    const isMade = former && record?.change?.id === former.id && record.revision === former.revision;
    if (!isMade) byNames.set(change.semaphore, change);
  }
  return byNames;
}

function* plannedSteps(
  changes: ReadonlyMap<string, UndoableChange>,
  { records, lasts, marks }: History & { readonly records: ReadonlyMap<string, SemaphoreRecord> },
  now: number,
): Pieces<UndoStep[]> {
  const steps: UndoStep[] = [];
  for (const [name, change] of changes) {
    steps.push(planStep(change, { record: records.get(name), last: lasts.get(name), marks }, now));
    yield 1;
  }
  return steps;
}

/** The entry of a single change. @throws UnknownEntryError, UndoRefusedError */
function entryOf(log: readonly AuditEntry[], id: string): UndoableEntry {
  const found = log.find((entry) => entry.id === id) ?? log.find(({ bulk }) => bulk === id);
  if (!found) throw new UnknownEntryError(id);
  if (!isUndoable(found)) throw new UndoRefusedError(id, refusalOf(found)!);
  if (found.id !== id) throw new UndoRefusedError(id, NO_SET);
  return found;
}

function isPlanned({ outcome }: UndoStep): boolean {
  return outcome === 'planned';
}

/** The steps are in the order in which they were listed. Those that need no undo do not count. */
function limited(steps: readonly UndoStep[], limit = Infinity): UndoStep[] {
  let due = 0;
  return steps.filter((step) => !isPlanned(step) || ++due <= limit);
}

/** @throws EditConflictError with the author of the later change */
function expectStillLast(change: UndoableChange, present: Present): void {
  if (isStillLast(change, present)) return;
  const { semaphore, revision } = change;
  const found = present.record?.revision ?? 0;
  throw new EditConflictError(semaphore, revision, found, laterChange(change, present), ADVICE);
}

/** The change may come from another program, so its texts are checked like a person's. */
function reasonOf(
  { by, reason }: Pick<UndoableChange, 'by' | 'reason'>,
  { action = 'edit' }: Partial<Pick<UndoStep, 'action'>> = {},
): string {
  const full = `undo of ${action} by ${by}${reason === undefined ? '' : `: ${reason}`}`;
  return reasonSchema.safeParse(full).success ? full : `undo of ${action}`;
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}
