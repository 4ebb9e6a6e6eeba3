import type { HistoryEntry } from './history.js';

/** Moments as people compare them: since the start of the history. */
export function formatTime(at: number, start: number): string {
  return `+${((at - start) / 1000).toFixed(3)} s`;
}

export function formatMs(duration: number): string {
  return `${duration.toFixed(1)} ms`;
}

/** One entry as one line; the facts in the order in which they were logged. */
export function formatEntry({ at, process, event, ...facts }: HistoryEntry, start: number): string {
  const details = Object.entries(facts).map(([name, value]) => `${name} ${String(value)}`);
  return [formatTime(at, start), process, event, ...details].join('  ');
}
