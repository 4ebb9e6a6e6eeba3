import { type SemaphoreRecord, show } from '../../../core/decision/index.js';
import { changedSince } from '../undo/undo-plan.js';
import { MaintenanceConflictError } from './maintenance.errors.js';
import { MOST_WINDOWS, type WindowEntry } from '../change-sets/window-part.js';
import { MOST_LIMITED, type StoredWindow } from './windows.js';

/*
 * The rules of overlapping windows. Pure.
 *
 * A window lists each semaphore that it paused. It also lists a semaphore that another window had paused before, with
 * the same pause. An end resumes a semaphore only if no other window that is not ending keeps it:
 *
 * | semaphore is listed by                  | the end of A                                              |
 * | --------------------------------------- | --------------------------------------------------------- |
 * | A                                       | resumes it                                                |
 * | A, and B, which has paused it           | leaves it to B; the end of B will resume it               |
 * | A, and B, which is about to pause it    | makes the pause of B, so that no late pause of A can come |
 * | A, and B, but it was changed since then | resumes it if the pause of A is the last change           |
 * | A, and B that is ending                 | resumes it, as B does; the first one resumes, once        |
 *
 * A window is listed before its semaphores are paused, and a semaphore is listed before it is paused. So a process that
 * dies leaves no pause that no window lists.
 */

type Records = ReadonlyMap<string, SemaphoreRecord>;

/** A window to start. */
export type NewWindow = Omit<StoredWindow, 'phase' | 'entries'>;

/**
 * @param isLimited whether the author may change only some semaphores: then some places are left for others
 * @throws MaintenanceConflictError if the window can't be started, or continued, with these patterns
 */
export function withWindow(
  windows: readonly StoredWindow[],
  { patterns, ...start }: NewWindow,
  isLimited = false,
): StoredWindow[] {
  const { name } = start;
  const existing = windows.find((each) => each.name === name);
  if (!existing) {
    if (windows.length >= (isLimited ? MOST_LIMITED.all : MOST_WINDOWS))
      throw new MaintenanceConflictError(name, tooMany(windows));
    const own = windows.filter(({ by }) => by === start.by);
    if (isLimited && own.length >= MOST_LIMITED.own) throw new MaintenanceConflictError(name, tooMany(own));
    return [...windows, { ...start, patterns, phase: 'starting', entries: [] }];
  }
  if (existing.phase === 'ending') throw new MaintenanceConflictError(name, 'is ending: end it first');
  if (existing.patterns.join('\n') !== patterns.join('\n')) {
    const theirs = existing.patterns.map((pattern) => show(pattern)).join(', ');
    throw new MaintenanceConflictError(
      name,
      `was started by ${show(existing.by)} with other patterns (${theirs}): take another name`,
    );
  }
  return windows.map((each) => (each === existing ? { ...each, phase: 'starting' } : each));
}

const tooMany = ({ length }: readonly StoredWindow[]) =>
  `is one too many: ${length} windows are on; end one of them first`;

/** Whether the pause of an entry is still the last change of the semaphore. */
export function isOurs([, , change]: WindowEntry, record: SemaphoreRecord | undefined): boolean {
  return record?.pause !== undefined && record.change?.id === change;
}

/** Whether the process that wanted to pause the semaphore died before it could. */
export function wasNeverPaused([, revision]: WindowEntry, record: SemaphoreRecord | undefined): boolean {
  return record?.definition !== undefined && record.revision < revision;
}

/**
 * The entries of semaphores that other windows have paused, and that `window` wants paused, too.
 *
 * @returns also the name of a window that is ending and may resume one of them any moment, if there is one
 */
export function sharedEntries(
  window: StoredWindow,
  windows: readonly StoredWindow[],
  names: readonly string[],
  records: Records,
): { readonly shared: readonly WindowEntry[]; readonly ending?: string } {
  const wanted = new Set(names);
  for (const [name] of window.entries) wanted.delete(name);
  const found = windows
    .filter(({ id }) => id !== window.id)
    .flatMap(({ name: by, phase, entries }) =>
      entries
        .filter((entry) => wanted.has(entry[0]) && isOurs(entry, records.get(entry[0])))
        .map((entry) => ({ entry, by, phase })),
    );
  const ending = found.find(({ phase }) => phase === 'ending');
  const shared = new Map(found.flatMap(({ entry, phase }) => (phase === 'ending' ? [] : [[entry[0], entry] as const])));
  return { shared: [...shared.values()], ...(ending && { ending: ending.by }) };
}

/** The semaphores that a start has to pause now: those that run, except those that people resumed meanwhile. */
export function dueNames({ entries }: StoredWindow, names: readonly string[], records: Records): string[] {
  const listed = new Map(entries.map((entry) => [entry[0], entry]));
  return names.filter((name) => {
    const record = records.get(name);
    const entry = listed.get(name);
    return record?.definition && !record.pause && (!entry || wasNeverPaused(entry, record));
  });
}

/** An entry of a window that wants a semaphore to stay paused while another window ends. */
export interface Wanting {
  readonly window: StoredWindow;
  readonly entry: WindowEntry;
}

/** Entries of other windows, which are not ending, by the names of semaphores that a window lists, too. */
export function wantedByOthers(window: StoredWindow, windows: readonly StoredWindow[]): Map<string, Wanting[]> {
  const wanted = new Map<string, Wanting[]>(window.entries.map(([name]) => [name, []]));
  for (const other of windows) {
    if (other.id === window.id || other.phase === 'ending') continue;
    for (const entry of other.entries) wanted.get(entry[0])?.push({ window: other, entry });
  }
  return wanted;
}

/** Says why an end leaves a semaphore alone. */
export function whyLeft(record: SemaphoreRecord | undefined): string {
  if (!record?.definition) return `its definition was removed; ${changedSince(record)}`;
  return `${record.pause ? 'it stays paused' : 'it runs already'}: ${changedSince(record)}`;
}

/** Replaces one window. */
export function replaced(windows: readonly StoredWindow[], window: StoredWindow): StoredWindow[] {
  return windows.map((each) => (each.id === window.id ? window : each));
}

/** Changes whenever a window is started, continued or ended, except the one with this name. */
export function stateOfOthers(windows: readonly StoredWindow[], name: string): string {
  const others = windows.filter((each) => each.name !== name);
  return JSON.stringify(others.map(({ id, phase, entries }) => [id, phase, entries.length]));
}

/** Lists semaphores that are about to be paused. The ids of pauses that were never made are used again. */
export function withEntries(window: StoredWindow, entries: readonly WindowEntry[]): StoredWindow {
  const next = new Map(window.entries.map((entry) => [entry[0], entry]));
  for (const [name, revision, change] of entries) next.set(name, [name, revision, next.get(name)?.[2] ?? change]);
  return { ...window, entries: [...next.values()] };
}

/** Drops entries by name. */
export function withoutEntries(window: StoredWindow, names: ReadonlySet<string>): StoredWindow {
  return { ...window, entries: window.entries.filter(([name]) => !names.has(name)) };
}
