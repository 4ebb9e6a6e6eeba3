import type { Health } from '../api/answers.js';
import { count, digits } from '../parts/format.js';

/**
 * The facts of health in one line: "Store 3/3 members, quorum 2, 1.2 ms, clocks ±0.4 ms, 12 nodes, archive ok, journals
 * ok".
 */
export function healthLine({ store, clock, latency, nodes, parts, hasArchive, faults }: Health): string {
  const journals = parts.filter(({ part }) => part === 'runs' || part === 'audit');
  return [
    `Store ${membersText(store)}`,
    ...(store.quorum > 0 ? [`quorum ${store.quorum}`] : []),
    ...(latency === undefined ? [] : [milliseconds(latency)]),
    ...(clock.offset === undefined ? [] : [`clocks ±${milliseconds(clockError(clock))}`]),
    ...(nodes ? [count(nodes.count, 'node')] : []),
    ...(hasArchive ? [`archive ${stateText(faults.some(({ code }) => code === 'archive-failing'))}`] : []),
    ...(journals.length > 0
      ? [`journals ${stateText(journals.some(({ failingSince }) => failingSince !== undefined))}`]
      : []),
  ].join(', ');
}

/** Whether the store sees fewer members than it should have. */
export function lacksMembers({ members, expected = members }: Health['store']): boolean {
  return members < expected;
}

/** "3/3 members"; "1 member" of a store that does not know how many it should have. */
function membersText({ members, expected }: Health['store']): string {
  return expected === undefined ? count(members, 'member') : `${digits(members)}/${count(expected, 'member')}`;
}

function stateText(isFailing: boolean): string {
  return isFailing ? 'failing' : 'ok';
}

/** How far cluster time may be off, in ms: the members differ, and a reading takes time. */
export function clockError({ spread, errorBound = 0 }: Health['clock']): number {
  return spread / 2 + errorBound;
}

export function milliseconds(value: number): string {
  return `${(value < 10 ? Math.round(value * 10) / 10 : Math.round(value)).toLocaleString()} ms`;
}
