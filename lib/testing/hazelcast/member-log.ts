import { PID_MARK } from './supervisor.js';

/** A fact about a member in a line of its log: Java's pid, that it joined a cluster, or how many members it sees. */
export type LogEvent = { pid: number } | { started: true } | { size: number };

/** @returns what the launcher needs to know of the line, or undefined. */
export function readLogLine(line: string): LogEvent | undefined {
  if (line.startsWith(PID_MARK)) return { pid: Number(line.slice(PID_MARK.length)) };
  if (/LifecycleService.* is STARTED$/.test(line)) return { started: true };
  const size = /^Members \{size:(\d+), ver:\d+\} \[/.exec(line)?.[1];
  return size === undefined ? undefined : { size: Number(size) };
}

/** A member's own view of itself and of its cluster. */
export interface MemberView {
  readonly running: boolean;
  readonly paused: boolean;
  readonly started: boolean;
  readonly size: number;
}

/**
 * Whether every member that can answer sees all the others. "At least", since a member that was just killed is still
 * counted until the others notice; a member that has newly joined never counts such a one.
 */
export function isWhole(views: readonly MemberView[]): boolean {
  const awake = views.filter(({ running, paused }) => running && !paused);
  return awake.every(({ started, size }) => started && size >= awake.length);
}
