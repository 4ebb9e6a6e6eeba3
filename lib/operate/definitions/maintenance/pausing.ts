import { type SemaphoreRecord, bumpRevision, pause, resume, show } from '../../../core/decision/index.js';
import type { DefinitionWriter, Marks } from '../definition-writer.js';
import type { ListedChange } from '../change-sets/change-sets.js';
import { type Wanting, isOurs, wasNeverPaused, whyLeft } from './window-rules.js';
import type { WindowEntry } from '../change-sets/window-part.js';

interface Author {
  readonly by: string;
  readonly reason: string;
}

/** Id of the change of many that ends a window. */
export const setOfEnd = (window: string) => `${window}-end`;

/** The number of each change in its change of many, by name. */
export function partsOf(changes: readonly ListedChange[]): ReadonlyMap<string, number> {
  return new Map(changes.map(({ name, part }) => [name, part]));
}

type PartOf = Pick<Marks, 'bulk' | 'part'>;

/** The entry after its pause; or the record of a semaphore that another change has paused or removed before. */
export type PauseOutcome = { readonly entry: WindowEntry } | { readonly other: SemaphoreRecord | undefined };

/** Id of the change by which an end lets go of an entry. The same in each try, so that a later call recognises it. */
export const idOfEnd = ([, , change]: WindowEntry) => `${change}-end`;

/**
 * Pauses the semaphore of an entry, unless it was changed since it was listed. An end of the window marks it, and does not look
 * behind the edit of a person, so a pause after either could stay in no window.
 *
 * @param as the change of many that the pause is a part of: its `bulk` is the id of the window
 */
export function pauseEntry(
  writer: DefinitionWriter,
  entry: WindowEntry,
  author: Author,
  as: PartOf,
): Promise<PauseOutcome> {
  const [name, , id] = entry;
  const ours = ({ revision }: SemaphoreRecord) => ({ entry: [name, revision, id] as const });
  return writer.write<PauseOutcome>('pause', name, author, {
    rewriting: (record, ...rest) => (record && wasNeverPaused(entry, record) ? pause(record, ...rest) : undefined),
    done: ours,
    // An earlier call may have paused it and died before it knew.
    unchanged: (record) => (isOurs(entry, record) ? ours(record!) : { other: record }),
    marks: { id, ...as },
  });
}

/** The entry was resumed, was never paused, or was left alone for a reason. */
export type ResumeOutcome = 'resumed' | 'never-paused' | { readonly why: string };

/**
 * Leaves a semaphore to another window, when one ends that paused it or was about to. If that window has not paused it yet,
 * pauses it now, as that window would. Otherwise a late pause by the start of the window that ends would be the last change,
 * and be in no window when its process dies.
 *
 * @param others entries of other windows for the same semaphore
 * @returns the name of the window that keeps it paused; undefined if there is none: the semaphore has changed since they
 *   listed it
 */
export async function leaveToOthers(writer: DefinitionWriter, others: readonly Wanting[]): Promise<string | undefined> {
  for (const { window, entry } of others) {
    const author = { by: window.by, reason: pauseReason(window.name, window.reason) };
    if ('entry' in (await pauseEntry(writer, entry, author, { bulk: window.id }))) return window.name;
  }
  return undefined;
}

/** The reason of each pause by a window. */
export function pauseReason(window: string, reason: string | undefined): string {
  return `maintenance ${show(window)}${reason === undefined ? '' : `: ${reason}`}`;
}

/**
 * Resumes the semaphore of an entry if the pause is still the last change. If the pause was not made yet, marks the record:
 * otherwise a start that still goes on could pause it after the window is gone, and then die.
 *
 * @param as the change of many that the resume is a part of
 */
export function resumeEntry(
  writer: DefinitionWriter,
  entry: WindowEntry,
  author: Author,
  as: PartOf,
): Promise<ResumeOutcome> {
  const [name] = entry;
  const id = idOfEnd(entry);
  let isPaused = true;
  return writer.write<ResumeOutcome>('resume', name, author, {
    rewriting: (record, ...rest) => {
      isPaused = isOurs(entry, record);
      if (record && isPaused) return resume(record, ...rest);
      return record && wasNeverPaused(entry, record) ? bumpRevision(record, ...rest) : undefined;
    },
    done: () => (isPaused ? 'resumed' : 'never-paused'),
    unchanged: (record) => (record?.change?.id === id ? 'resumed' : { why: whyLeft(record) }),
    marks: { id, ...as },
  });
}
