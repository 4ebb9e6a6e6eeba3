import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { CancelTimer } from '../../core/async/node-clock.js';
import { TASK_PREFIX } from '../../core/decision/index.js';
import { partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import type { CountedTasks, Visitor } from '../api/caller.js';

/** ms for which calls of one kind are counted together. */
const WINDOW = 60_000;
/** Types of one token and action that are counted apart at the same time. All further ones share an entry. */
const MOST_TYPES = 20;
/** Windows of all tokens. With more, the oldest one ends early. */
const MOST_WINDOWS = 1000;
/** Stands for the types beyond {@link MOST_TYPES}. No type has this name. */
const FURTHER_TYPES = '*';

type TaskCall = 'submit-tasks' | 'claim-tasks';

interface Window {
  readonly action: TaskCall;
  readonly type: string;
  readonly by: string;
  /** Of those that no entry counts yet: their number, and the first one. */
  count: number;
  task?: string;
  cancel: CancelTimer;
}

/**
 * Notes submissions and claims in the audit log, which programs make by the thousand:
 *
 *     call            first   second  third                fourth
 *     entry           count 1         │                    │       count 2, at the end of the window
 *                     │<─────────── a minute ──────────────────────>│ the next window begins
 *
 * The first call stands in the log at once, also if the node dies in the minute after it. Each token has at most two entries a
 * minute for an action and a type, and so for 20 types and the rest.
 */
@Injectable()
export class TaskCalls implements OnModuleDestroy {
  readonly #windows = new Map<string, Window>();
  #isClosed = false;

  constructor(private readonly gatekeeper: GatekeeperService) {}

  /** Writes what is counted. Later calls have an entry each. */
  onModuleDestroy(): void {
    this.#isClosed = true;
    for (const key of this.#windows.keys()) this.#end(key);
  }

  /** Counts tasks of one type that a visitor has submitted or claimed. */
  note(action: TaskCall, { user }: Visitor, type: string, { first: task, count }: CountedTasks): void {
    const own = this.#windows.get(keyOf(action, user, type));
    const name = own ? type : this.#nameFor(action, user, type);
    const window = own ?? this.#windows.get(keyOf(action, user, name));
    if (!window) return this.#begin(action, user, name, { task, count });
    window.task ??= task;
    window.count += count;
  }

  #nameFor(action: TaskCall, user: string, type: string): string {
    let own = 0;
    for (const each of this.#windows.values()) if (each.by === user && each.action === action) own++;
    return own < MOST_TYPES ? type : FURTHER_TYPES;
  }

  #begin(action: TaskCall, by: string, type: string, { task, count }: { task: string; count: number }): void {
    this.#write({ action, by, type, task, count });
    if (!this.#isClosed) this.#open({ action, by, type });
  }

  #open(of: Pick<Window, 'action' | 'by' | 'type'>): void {
    const key = keyOf(of.action, of.by, of.type);
    const { nodeClock } = partsOf(this.gatekeeper).context;
    this.#windows.set(key, { ...of, count: 0, cancel: nodeClock.schedule(() => this.#end(key), WINDOW) });
    if (this.#windows.size > MOST_WINDOWS) this.#end(this.#windows.keys().next().value!);
  }

  #end(key: string): void {
    const window = this.#windows.get(key)!;
    window.cancel();
    this.#windows.delete(key);
    if (window.count === 0) return;
    this.#write(window);
    if (!this.#isClosed && this.#windows.size < MOST_WINDOWS) this.#open(window);
  }

  #write({ action, by, type, task, count }: Pick<Window, 'action' | 'by' | 'type' | 'count' | 'task'>): void {
    const { audit } = partsOf(this.gatekeeper);
    audit.note({ action, semaphore: TASK_PREFIX + type, by, count, ...(task !== undefined && { task }) });
  }
}

function keyOf(...parts: readonly [action: TaskCall, user: string, type: string]): string {
  return parts.join('\n');
}
