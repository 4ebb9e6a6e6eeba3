import type { Health } from '../api/answers.js';
import { count } from '../parts/format.js';

/** The facts of a calm time in one line: "Store 3 members, quorum 2, 1.2 ms, clocks ±0.4 ms, 12 nodes". */
export function healthLine({ store, clock, latency, nodes }: Health): string {
  return [
    `Store ${count(store.members, 'member')}`,
    ...(store.quorum > 0 ? [`quorum ${store.quorum}`] : []),
    ...(latency === undefined ? [] : [milliseconds(latency)]),
    ...(clock.offset === undefined ? [] : [`clocks ±${milliseconds(clockError(clock))}`]),
    ...(nodes ? [count(nodes.count, 'node')] : []),
  ].join(', ');
}

/** How far cluster time may be off, in ms: the members differ, and a reading takes time. */
export function clockError({ spread, errorBound = 0 }: Health['clock']): number {
  return spread / 2 + errorBound;
}

export function milliseconds(value: number): string {
  return `${(value < 10 ? Math.round(value * 10) / 10 : Math.round(value)).toLocaleString()} ms`;
}
