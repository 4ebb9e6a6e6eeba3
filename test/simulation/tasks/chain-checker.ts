import type { Awaited, Task } from '../../../lib/tasks/rules/task.js';
import { bornOf, hasEnded } from '../../../lib/tasks/rules/transitions.js';
import type { PlannedLink } from './chain-plan.js';
import type { Life } from './tasks-checker.js';

/** The others that a life of a task waits for, as its record said first. */
interface Wait {
  readonly after: readonly Awaited[];
  readonly runsAlways: boolean;
}

/**
 * Checks T10 twice: by the plan, so that a wait that was never noted is found; and by the records, so that a failure of an
 * awaited one is found.
 */
export class ChainChecker {
  readonly #waits = new Map<string, Wait>();

  constructor(
    private readonly links: ReadonlyMap<string, PlannedLink>,
    private readonly lives: ReadonlyMap<string, readonly Life[]>,
    private readonly violated: (text: string) => void,
  ) {}

  /** A task that waits for others was written. */
  blocked(task: Task): void {
    const { after = [], afterFailed } = task;
    const born = bornOf(task);
    if (!this.#waits.has(born)) this.#waits.set(born, { after, runsAlways: afterFailed === 'run' });
  }

  /** A node begins to work on a task. */
  claimed(task: Task): void {
    const { id } = task;
    // A life by hand begins at once.
    if (this.lives.get(id)?.[0]?.born === bornOf(task)) {
      for (const other of this.links.get(id)?.after ?? []) {
        const first = this.lives.get(other.endsWith(']') ? `${other}#join` : other)?.[0];
        if (!first || !hasEnded(first.task)) this.violated(`T10 ${id} was claimed before ${other} had ended`);
      }
    }
    const wait = this.#waits.get(bornOf(task));
    for (const { id: other, life } of wait?.after ?? []) {
      const outcome = this.lives.get(other)?.find(({ born }) => born === life)?.task.ending?.outcome ?? 'completed';
      if (outcome !== 'completed' && !wait!.runsAlways)
        this.violated(`T10 ${id} runs, although ${other} is ${outcome}`);
    }
  }
}

/** It was to run after a task that failed, perhaps before it was submitted. */
export function isUnstarted(before: Task | undefined, { error, ending }: Task): boolean {
  const isNew = before === undefined || before.ending !== undefined;
  return (
    (isNew || before.state === 'blocked') && ending?.outcome === 'cancelled' && error?.name === 'AwaitedTaskFailedError'
  );
}
