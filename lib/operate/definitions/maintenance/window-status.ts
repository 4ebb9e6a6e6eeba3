import { type Context, timeOf } from '../../../core/context/context.js';
import { holderStates } from '../../../core/context/holder-state.js';
import type { Listed } from '../../../core/cell/semaphore-listing.js';
import type { SemaphoreRecord } from '../../../core/decision/index.js';
import { isOurs, wasNeverPaused, whyLeft } from './window-rules.js';
import type { StoredWindow } from './windows.js';
import type { HeldCount, MaintenanceWindow } from './maintenance-answers.js';

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
