import { PID_MARK } from './supervisor.js';

/** A fact in a line of a member's log: Java's pid, that the member joined a cluster, or how many members it sees. */
export type LogEvent = { pid: number } | { started: true } | { size: number };

/** @returns the fact in the line, or undefined if it has none. */
export function readLogLine(line: string): LogEvent | undefined {
  if (line.startsWith(PID_MARK)) return { pid: Number(line.slice(PID_MARK.length)) };
  if (/LifecycleService.* is STARTED$/.test(line)) return { started: true };
  const size = /^Members \{size:(\d+), ver:\d+\} \[/.exec(line)?.[1];
  return size === undefined ? undefined : { size: Number(size) };
}

/** A member's state, as its log and its process show it. */
export interface MemberView {
  readonly running: boolean;
  readonly paused: boolean;
  readonly started: boolean;
  readonly size: number;
}

/**
 * Whether every member that runs and is not paused sees all the others. A member may see more than those: it counts a
 * killed member until it notices the end. A member that has just joined never counts a killed one.
 */
export function isWhole(views: readonly MemberView[]): boolean {
  const awake = views.filter(({ running, paused }) => running && !paused);
  return awake.every(({ started, size }) => started && size >= awake.length);
}
