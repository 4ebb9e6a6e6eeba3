import type { HistoryEntry } from '../history-answers.js';
import type { EndedRun, ExpiryEntry, StartEntry, StoredRunEntry } from '../entry-schemas.js';
import { withoutEnd } from '../history-entry.js';
import { runInShard, runKey } from './job-record.js';

/** Facts about starts without an end. */
export interface RunFacts {
  /** Whether the node of a run is alive. */
  isLiving(start: StartEntry): boolean;
  /** Cluster time in ms at which the permit of a run ends or ended, by its record; undefined if that does not have it. */
  expiryOf(start: StartEntry): number | undefined;
}

/** Finds the starts without an end. A start that was written twice is there once: the one that knows of a loss. Pure. */
export function openStarts(entries: readonly StoredRunEntry[]): StartEntry[] {
  const ended = new Set(entries.flatMap((entry) => (entry.kind === 'run' ? (keyOf(entry) ?? []) : [])));
  const open = new Map<string | undefined, StartEntry>();
  for (const entry of entries) {
    const key = entry.kind === 'start' && keyOf(entry);
    if (key && !ended.has(key) && (entry.loss || !open.has(key))) open.set(key, entry);
  }
  return [...open.values()];
}

/**
 * Replaces each start without an end by what is known of its run, and drops the other starts. The order stays. Pure.
 *
 * @param open the result of {@link openStarts} for these entries
 */
export function paired(
  entries: readonly StoredRunEntry[],
  open: readonly StartEntry[],
  facts: RunFacts,
): HistoryEntry[] {
  const isOpen = new Set(open);
  const expiries = new Map(
    entries.flatMap((entry) => (entry.kind === 'expiry' ? [[permitOf(entry), entry.at] as const] : [])),
  );
  return entries.flatMap((entry) => {
    if (entry.kind === 'expiry') return [];
    if (entry.kind !== 'start') return entry;
    return isOpen.has(entry) ? shown(entry, facts.expiryOf(entry) ?? expiries.get(permitOf(entry)), facts) : [];
  });
}

/** A run of a living node goes on even if its permit has ended: a run may ignore its signal. */
function shown(entry: StartEntry, known: number | undefined, facts: RunFacts): HistoryEntry {
  const { until: _until, ...start } = entry;
  return facts.isLiving(entry) ? { ...start, kind: 'running' } : withoutEnd(entry, known);
}

function permitOf({ semaphore, token }: ExpiryEntry | StartEntry): string {
  return `${token}\n${semaphore}`;
}

/**
 * Entries of short runs have no number. The number alone is not enough: a node counts anew for a name without a
 * definition that it had forgotten.
 */
function keyOf(entry: EndedRun | StartEntry): string | undefined {
  return entry.run === undefined ? undefined : runInShard(entry.semaphore, runKey(entry));
}
