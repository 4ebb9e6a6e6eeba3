import { checkHistory } from '../../proof/history/check-history.js';
import type { HistoryEntry } from '../../proof/history/history.js';
import { type Takeover, takeoversAfterLoss } from './takeovers-after-loss.js';

/** The terms of the scope in one run. */
export interface LeadershipFigures {
  readonly terms: number;
  /** How often two processes surely led at once. */
  readonly doubles: number;
  /** From the loss of a leader to the next term. */
  readonly takeovers: readonly Takeover[];
}

/** @param end what happens from then on belongs to the end of the run */
export function leadershipFigures(history: readonly HistoryEntry[], semaphore: string, end: number): LeadershipFigures {
  const entries = history.filter((entry) => !('semaphore' in entry) || entry.semaphore === semaphore);
  const { grants, overlaps } = checkHistory(entries).figures;
  const takeovers = takeoversAfterLoss(entries.filter(({ at }) => at < end));
  return { terms: grants, doubles: overlaps, takeovers };
}
