import { checkHistory } from '../../proof/history/check-history.js';
import type { HistoryEntry } from '../../proof/history/history.js';
import type { Violation } from '../../proof/history/violations.js';
import { convergences } from './convergence.js';
import { type Takeover, takeoversAfterLoss } from './takeovers-after-loss.js';

/** The owners of all resources in one run. */
export interface AllocationFigures {
  /** How often a resource got an owner. */
  readonly changes: number;
  /** Writes of processes that did not own the resource any more. */
  readonly staleWrites: { readonly refused: number; readonly applied: number };
  /** How often two processes surely owned a resource at once. */
  readonly doubles: number;
  /** From the loss of an owner to the next one. */
  readonly takeovers: readonly Takeover[];
  /** ms from the end of each injection until each resource had an owner and shares were even; Infinity: never. */
  readonly convergences: readonly number[];
}

export interface AllocationBounds {
  /** Longest takeover after kill -9 or a freeze, in ms; none while the store may not work. */
  readonly takeover?: number | undefined;
  /** ms */
  readonly convergence: number;
}

export interface AllocationVerdict {
  readonly figures: AllocationFigures;
  readonly violations: readonly Violation[];
}

/**
 * Judges the owners of a run.
 *
 * @param history in the order of time
 * @param semaphores one for each resource: its owner holds it
 */
export function judgeAllocation(
  history: readonly HistoryEntry[],
  semaphores: readonly string[],
  { takeover, convergence }: AllocationBounds,
  slack: number,
): AllocationVerdict {
  const entries = history.filter((entry) => isAbout(entry, semaphores));
  const { figures, violations } = checkHistory(entries, { slack });
  const takeovers = semaphores.flatMap((name) =>
    takeoversAfterLoss(entries.filter((entry) => !('semaphore' in entry) || entry.semaphore === name)),
  );
  const converged = convergences(entries, semaphores);
  const late = [
    ...takeovers
      .filter(({ loss, took }) => (loss === 'kill -9' || loss === 'freeze') && took > (takeover ?? Infinity))
      .map(({ loss, took }) => `a resource had its next owner ${ms(took)} after ${loss}; at most ${takeover} ms`),
    ...converged
      .filter((took) => took > convergence)
      .map((took) => `owners were settled ${ms(took)} after the fault; at most ${convergence} ms`),
  ];
  return {
    figures: {
      changes: figures.grants,
      staleWrites: { refused: figures.writes.staleRefused, applied: figures.writes.staleApplied },
      doubles: figures.overlaps,
      takeovers,
      convergences: converged,
    },
    violations: [...violations, ...late.map((text) => ({ rule: 'L' as const, at: 0, text, around: [] }))],
  };
}

/** Resignations and transfers concern the leader only. Membership leases are judged with the permits. */
function isAbout(entry: HistoryEntry, semaphores: readonly string[]): boolean {
  if ('semaphore' in entry) return semaphores.includes(entry.semaphore);
  if (entry.event === 'handing-over') return entry.how === 'shutdown';
  return entry.event !== 'counted' && entry.event !== 'judged';
}

function ms(took: number): string {
  return took === Infinity ? 'never' : `${took.toFixed(0)} ms`;
}
