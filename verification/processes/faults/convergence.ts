import type { EntryOf, HistoryEntry } from '../../proof/history/history.js';
import { Recorder } from './recorder.js';

/** ms for which all must stay settled: a heartbeat of the membership, in which everyone hears of the last changes. */
export const CALM = 1000;

/** Whether each of these semaphores has a holder among the processes, and their shares differ by at most 1. */
export function isSettled(
  recorder: Recorder,
  semaphores: readonly string[],
  processes: readonly string[],
  at?: number,
): boolean {
  const shares = new Map(processes.map((process) => [process, 0]));
  for (const semaphore of semaphores) {
    const owner = recorder.holders(semaphore, at)[0]?.process;
    const share = owner === undefined ? undefined : shares.get(owner);
    if (share === undefined) return false;
    shares.set(owner!, share + 1);
  }
  return Math.max(...shares.values()) - Math.min(...shares.values()) <= 1;
}

/**
 * ms from the end of each injection until all is settled, and stays so for {@link CALM}.
 *
 * @returns Infinity where that was not before the next injection, or the end of the history
 */
export function convergences(history: readonly HistoryEntry[], semaphores: readonly string[]): number[] {
  const recorder = new Recorder();
  const found: number[] = [];
  let open: EntryOf<'all-well'> | undefined;
  let since: number | undefined;
  const close = (took: number) => {
    if (open) found.push(took);
    open = since = undefined;
  };
  const isSettledAt = (at: number) => open !== undefined && isSettled(recorder, semaphores, open.processes, at);
  for (const { at, ...entry } of history) {
    // Leases may have ended since then, without an entry. This entry may be of the next injection, long after.
    if (since !== undefined && at - since >= CALM && isSettledAt(since + CALM)) close(since - open!.at);
    recorder.add({ at, ...entry });
    if (entry.event === 'all-well') {
      close(Infinity);
      open = { at, ...entry };
    }
    since = isSettledAt(at) ? (since ?? at) : undefined;
  }
  close(Infinity);
  return found;
}
