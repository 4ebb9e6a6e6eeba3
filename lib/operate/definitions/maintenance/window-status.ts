import { type Context, timeOf } from '../../../core/context/context.js';
import { holderStates } from '../../../core/context/holder-state.js';
import type { Listed } from '../../../core/cell/semaphore-listing.js';
import type { SemaphoreRecord } from '../../../core/decision/index.js';
import { isOurs, wasNeverPaused, whyLeft } from './window-rules.js';
import type { WINDOW_PHASES } from '../change-sets/window-part.js';
import type { StoredWindow } from './windows.js';

/** A semaphore that a call left alone, with the reason in a sentence. */
export interface LeftAlone {
  /** Name of the semaphore. */
  readonly name: string;
  /** Why. */
  readonly why: string;
}

/** The present state of a maintenance window. */
export interface MaintenanceWindow {
  /** Name of the window. */
  readonly window: string;
  /** RE2; each must match the whole name of a semaphore. */
  readonly patterns: readonly string[];
  /** The reason that was given. */
  readonly reason?: string;
  /** Name of the person or program that started it. */
  readonly by: string;
  /** Cluster time of the start in ms. */
  readonly since: number;
  /** `starting` and `ending`: the command was not carried out completely; repeat it. */
  readonly phase: (typeof WINDOW_PHASES)[number];
  /** Names that are paused by this window, and that its end will resume, unless another window wants them paused. */
  readonly semaphores: readonly string[];
  /** Names that it had paused, and that changed since. Its end will leave them alone. */
  readonly left: readonly LeftAlone[];
  /** Number of permits that are still held, of all names that match. */
  readonly permits: number;
  /** Names that match and still have held permits, each with their number. */
  readonly held: readonly HeldCount[];
  /** Names that match and are not paused: defined or resumed since the start, or used without a definition. */
  readonly running: readonly string[];
  /** Those of `running` that the same start would pause now: defined since. */
  readonly due: readonly string[];
  /** Names that match and whose records can't be read. */
  readonly unreadable: readonly string[];
  /** Whether nothing that matches holds a permit or can take one. */
  readonly isQuiet: boolean;
  /** The state in a sentence. */
  readonly sentence: string;
}

/** A window as it was started. */
export interface OpenWindow extends Pick<MaintenanceWindow, 'window' | 'reason' | 'by' | 'since' | 'phase'> {
  /** Names that it has paused, or was about to, also those that changed since. */
  readonly listed: readonly string[];
}

/** Number of held permits of one semaphore. */
export interface HeldCount {
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Number of its held permits. */
  readonly permits: number;
}

/** @param matching all names that match its patterns, also those without a definition */
export function windowStatus(
  { name, patterns, reason, by, since, phase, entries }: StoredWindow,
  matching: readonly string[],
  { records, context }: { readonly records: ReadonlyMap<string, Listed>; readonly context: Context },
): MaintenanceWindow {
  const read = readableOf(matching, records);
  const held = heldOf(read, context);
  const permits = held.reduce((sum, each) => sum + each.permits, 0);
  const running = read
    .filter(
      ([each, { pause, definition }]) => !pause && (definition || held.some(({ semaphore }) => semaphore === each)),
    )
    .map(([each]) => each);
  const listed = new Set(entries.map(([each]) => each));
  // A start leaves out names that only calls define.
  const due = read.flatMap(([each, record]) =>
    !record.pause && record.definition && !record.isOnDemand && !listed.has(each) ? [each] : [],
  );
  const unreadable = matching.filter((each) => records.get(each) instanceof Error);
  const recordOf = (each: string) => {
    const record = records.get(each);
    return record instanceof Error ? undefined : record;
  };
  const ours = entries.filter((entry) => isOurs(entry, recordOf(entry[0])));
  const others = entries.filter(
    (entry) => !isOurs(entry, recordOf(entry[0])) && !wasNeverPaused(entry, recordOf(entry[0])),
  );
  const facts = {
    phase,
    permits,
    running: running.length - due.length,
    due: due.length,
    unreadable: unreadable.length,
  };
  return {
    window: name,
    patterns,
    ...(reason !== undefined && { reason }),
    by,
    since,
    phase,
    semaphores: ours.map(([each]) => each).toSorted(),
    left: others.map(([each]) => ({ name: each, why: whyLeft(recordOf(each)) })),
    permits,
    held,
    running,
    due,
    unreadable,
    isQuiet: phase === 'on' && permits + running.length + unreadable.length === 0,
    sentence: sentenceOf(facts),
  };
}

function readableOf(names: readonly string[], records: ReadonlyMap<string, Listed>): [string, SemaphoreRecord][] {
  return names.flatMap((name) => {
    const record = records.get(name);
    return record === undefined || record instanceof Error ? [] : [[name, record] as [string, SemaphoreRecord]];
  });
}

function heldOf(read: readonly [string, SemaphoreRecord][], context: Context): HeldCount[] {
  const standpoint = { node: context.node, now: timeOf(context) };
  return read.flatMap(([semaphore, record]) => {
    const permits = holderStates(record, standpoint).filter(({ remaining }) => remaining > 0).length;
    return permits > 0 ? [{ semaphore, permits }] : [];
  });
}

interface Facts extends Pick<MaintenanceWindow, 'phase' | 'permits'> {
  /** Number of names that are not paused, without those that are due. */
  readonly running: number;
  readonly due: number;
  readonly unreadable: number;
}

function sentenceOf({ phase, permits, running, due, unreadable }: Facts): string {
  if (phase === 'starting') return 'its start is not complete: start it again to continue';
  if (phase === 'ending') return 'its end is not complete: end it again to continue';
  if (permits + running + due + unreadable === 0) return 'no permit is held: safe to begin';
  const held =
    permits === 0 ? 'no permit is held' : `${amount(permits, 'permit is', 'permits are')} still held: safe at 0`;
  const since =
    due === 0 ? [] : [`${amount(due, 'name was', 'names were')} defined since: start it again to pause these, too`];
  const open =
    running === 0
      ? []
      : [`${amount(running, 'name', 'names')} that it can't pause: resumed since, or without a definition`];
  const dark = unreadable === 0 ? [] : [`${amount(unreadable, 'record', 'records')} can't be read`];
  return [held, ...since, ...open, ...dark].join('; ');
}

function amount(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
