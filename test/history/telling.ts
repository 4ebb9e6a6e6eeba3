import type { HistoryEntry } from './history.js';

/** Moments as people compare them: since the start of the history. */
export function tellTime(at: number, start: number): string {
  return `+${((at - start) / 1000).toFixed(3)} s`;
}

export function tellMs(duration: number): string {
  return `${duration.toFixed(1)} ms`;
}

/** One entry as one line; the facts in the order in which they were logged. */
export function tellEntry({ at, process, event, ...facts }: HistoryEntry, start: number): string {
  const told = Object.entries(facts).map(([name, value]) => `${name} ${String(value)}`);
  return [tellTime(at, start), process, event, ...told].join('  ');
}
