import { checkHistory } from '../history/check-history.js';
import type { Handover, HistoryEntry } from '../history/history.js';

/** How a leader lost or gave up its term. */
export type TermLoss = 'kill -9' | 'freeze' | 'cut' | Handover;

/** The terms of the scope in one run. */
export interface LeadershipFigures {
  readonly terms: number;
  /** How often two processes surely led at once. */
  readonly doubles: number;
  /** ms from the loss of a leader to the next term, which another process has. */
  readonly takeovers: readonly { readonly loss: TermLoss; readonly took: number }[];
}

/** @param end what happens from then on belongs to the end of the run */
export function leadershipFigures(history: readonly HistoryEntry[], semaphore: string, end: number): LeadershipFigures {
  const entries = history.filter((entry) => !('semaphore' in entry) || entry.semaphore === semaphore);
  const { grants, overlaps } = checkHistory(entries).figures;
  return { terms: grants, doubles: overlaps, takeovers: takeoversOf(entries.filter(({ at }) => at < end)) };
}

function takeoversOf(entries: readonly HistoryEntry[]): LeadershipFigures['takeovers'] {
  const takeovers: { loss: TermLoss; took: number }[] = [];
  let leader: string | undefined;
  let lost: { readonly loss: TermLoss; readonly at: number } | undefined;
  for (const entry of entries) {
    const loss = lossOf(entry);
    if (loss && entry.process === leader) lost ??= { loss, at: entry.at };
    // A short freeze or cut, after which its term went on.
    else if (entry.event === 'refreshed' && entry.process === leader) lost = undefined;
    else if (entry.event === 'granted') {
      if (lost && entry.process !== leader) takeovers.push({ loss: lost.loss, took: entry.at - lost.at });
      lost = undefined;
      leader = entry.process;
    }
  }
  return takeovers;
}

function lossOf(entry: HistoryEntry): TermLoss | undefined {
  switch (entry.event) {
    case 'killed':
      return 'kill -9';
    case 'frozen':
      return 'freeze';
    case 'cut':
      return 'cut';
    case 'handing-over':
      return entry.how;
    default:
      return undefined;
  }
}
