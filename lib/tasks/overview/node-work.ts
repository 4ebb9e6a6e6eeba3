import type { NodeTasks } from './node-tasks.js';
import type { Context } from '../../core/context/context.js';
import { typeOfId, joinType } from '../rules/task-id.js';
import type { HandledType } from '../workers/handled-type.js';
import { type AttemptEnd, RecentEnds } from './recent-ends.js';

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
}): AttemptEnd | undefined {
  if (outcome === 'completed') return 'completed';
  return isFailure ? 'failed' : undefined;
}

/** Type of the record of a task. A handler of groups counts apart. */
function keyOf(id: string): string {
  const type = typeOfId(id);
  return id[type.length] === '[' && id.endsWith(']#join') ? joinType(type) : type;
}
