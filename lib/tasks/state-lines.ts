import { word } from '../core/decision/index.js';
import type { NodeTasks } from './overview/node-tasks.js';
import type { WaitingType } from './by-hand/task-list.js';
import type { Tasks } from './tasks.js';
import type { ScheduleView } from './schedules/schedule-view.js';

/** The types and the schedules for the state dump; none if this node uses no tasks. @throws StoreUnavailableError */
export async function stateLinesOf(tasks: Tasks): Promise<string[]> {
  if (!tasks.opened) return [];
  return taskLines((await tasks.waitingTypes()).types, tasks.work.list(tasks.handlers), await tasks.schedules.list());
}

/** Formats the work on tasks for the log: a line per type of this node or with waiting tasks, then a line per schedule. */
export function taskLines(
  waiting: readonly WaitingType[],
  work: readonly NodeTasks[],
  schedules: readonly ScheduleView[],
): string[] {
  const types = new Set([...waiting.map(({ type }) => type), ...work.map(({ type }) => type)]);
  const typeLines = [...types].toSorted().map((type) => {
    const about = waiting.find((each) => each.type === type)?.waiting ?? 0;
    const here = work.filter((each) => each.type === type).map(workText);
    return `state task-type=${word(type)} waiting~${about} here=[${here.join(' ')}]`;
  });
  return [...typeLines, ...schedules.map(scheduleLine)];
}

function workText({ handles, running, concurrency, completed, failed, obstacle }: NodeTasks): string {
  const stop = obstacle === undefined ? '' : ` ${word(obstacle)}`;
  return `${handles}(${running}/${concurrency} running, ${completed} completed, ${failed} failed in the last minute${stop})`;
}

function scheduleLine(schedule: ScheduleView): string {
  const { name, expression, timeZone, mode, next, last, run, waiting, isHere, isUnreadable, silentUntil } = schedule;
  const silent = silentUntil === undefined ? '' : ` silent-until=${new Date(silentUntil).toISOString()}`;
  const time = (at: number | undefined) => (at === undefined ? 'none' : new Date(at).toISOString());
  const text = (value: string | undefined) => (value === undefined ? 'unknown' : word(value));
  return (
    `state schedule=${word(name)} expression=${expression === undefined ? 'unknown' : JSON.stringify(expression)} ` +
    `zone=${text(timeZone)} mode=${text(mode)} next=${time(next)} last=${time(last)} run=${time(run)} ` +
    `waiting=${waiting}${isHere ? '' : ' elsewhere'}${isUnreadable ? ' unreadable' : ''}${silent}`
  );
}
