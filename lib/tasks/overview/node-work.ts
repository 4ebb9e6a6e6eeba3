import type { Context } from '../../core/context/context.js';
import { typeOfId, joinType } from '../rules/task-id.js';
import type { HandledType, ScheduleView, WaitingType } from '../rules/views.js';
import type { NodeTasks } from './node-tasks.js';
import { word } from '../../core/decision/index.js';
import type { WaitingTypes } from '../by-hand/task-list.js';

/** The work of this node on tasks, for operators. Asks no store. */
export class NodeWork {
  /** Tasks that programs end through this node, by type. */
  readonly programs: RecentEnds;
  readonly #own: RecentEnds;

  constructor(context: Pick<Context, 'nodeClock' | 'events'>) {
    this.programs = new RecentEnds(context.nodeClock);
    this.#own = new RecentEnds(context.nodeClock);
    context.events.subscribe((event) => {
      const end = event.type === 'task-ended' ? endOf(event) : undefined;
      if (event.type === 'task-ended' && end) this.#own.note(keyOf(event.task), end);
    });
  }

  /** The types that this node handles, and those of which programs ended tasks within the last minute. */
  list(handlers: { types(): readonly HandledType[] }): NodeTasks[] {
    const own = handlers.types().map((handled) => ({ ...handled, ...this.#own.of(recordType(handled)) }));
    const programs = this.programs.types().map((type) => {
      return { type, handles: 'programs' as const, concurrency: 0, running: 0, ...this.programs.of(type) };
    });
    return [...own, ...programs];
  }
}

function recordType({ type, handles }: Pick<NodeTasks, 'type' | 'handles'>): string {
  return handles === 'groups' ? joinType(type) : type;
}

/** Undefined for a task that goes back, waits as its handler wants it, or was cancelled. */
function endOf({
  outcome,
  isFailure,
}: {
  readonly outcome?: string;
  readonly isFailure: boolean;
}): AttemptOutcome | undefined {
  if (outcome === 'completed') return 'completed';
  return isFailure ? 'failed' : undefined;
}

/** Type of the record of a task. A handler of groups counts apart. */
function keyOf(id: string): string {
  const type = typeOfId(id);
  return id[type.length] === '[' && id.endsWith(']#join') ? joinType(type) : type;
}

/** ms that the counts cover, and of one of their parts. */
const SPAN = 60_000;
const PART = 10_000;
/** Types that are counted: programs may name any. */
const MOST_TYPES = 1000;

/** Attempts that ended on this node within the last minute. */
interface EndCounts {
  /** Those that completed their task. */
  readonly completed: number;
  /** Those that failed, also if the task is tried again. */
  readonly failed: number;
}

/** How an attempt ended. */
export type AttemptOutcome = keyof EndCounts;

/** The counts of one part of the span. */
interface Part {
  readonly number: number;
  completed: number;
  failed: number;
}

/** Counts the attempts that ended in the last minute, per type. */
export class RecentEnds {
  readonly #parts = new Map<string, Part[]>();

  constructor(private readonly clock: Pick<Context['nodeClock'], 'monotonic'>) {}

  /** @param type of the record, so that handlers of groups have a type of their own */
  note(type: string, end: AttemptOutcome): void {
    const number = this.#now;
    const parts = this.#parts.get(type) ?? [];
    if (parts.length === 0 && this.#parts.size >= MOST_TYPES) return;
    const last = parts.at(-1);
    const part = last?.number === number ? last : { number, completed: 0, failed: 0 };
    part[end]++;
    this.#parts.set(type, part === last ? parts : [...recent(parts, number), part]);
  }

  /** The counts of a type. */
  of(type: string): EndCounts {
    const parts = recent(this.#parts.get(type) ?? [], this.#now);
    const sum = (end: AttemptOutcome) => parts.reduce((total, part) => total + part[end], 0);
    return { completed: sum('completed'), failed: sum('failed') };
  }

  /** The types of which an attempt ended within the last minute. Forgets the others. */
  types(): string[] {
    for (const [type, parts] of this.#parts) if (recent(parts, this.#now).length === 0) this.#parts.delete(type);
    return [...this.#parts.keys()];
  }

  get #now(): number {
    return Math.floor(this.clock.monotonic() / PART);
  }
}

function recent(parts: readonly Part[], now: number): Part[] {
  return parts.filter(({ number }) => number > now - SPAN / PART);
}

/** The tasks of one node, as far as its state dump tells of them. */
interface StatedTasks {
  /** Absent until this node uses tasks. */
  readonly opened?: unknown;
  readonly work: NodeWork;
  readonly handlers: { types(): readonly HandledType[] };
  readonly schedules: { list(): Promise<readonly ScheduleView[]> };
  waitingTypes(): Promise<WaitingTypes>;
}

/** The types and the schedules for the state dump; none if this node uses no tasks. @throws StoreUnavailableError */
export async function stateLinesOf(tasks: StatedTasks): Promise<string[]> {
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
