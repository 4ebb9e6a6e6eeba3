import type { TaskTarget } from '../../../lib/tasks/rules/task-parts.js';
import type { NodeIdentity } from '../../../lib/core/context/node-identity.js';
import type { Task } from '../../../lib/tasks/rules/task.js';
import { decodeTask } from '../../../lib/tasks/rules/task.codec.js';
import { hasEnded } from '../../../lib/tasks/rules/transitions.js';
import type { LivingList } from './living-list.js';

/**
 * Checks T13: no node runs a task that is not addressed to it; a task keeps its address, but moves to another node that its
 * target allows when its process is gone. It reads patterns by itself, and not with the product's code.
 */
export class AddressChecker {
  /** Targets of all submissions of a task, by id. */
  readonly #asked = new Map<string, TaskTarget[]>();

  constructor(
    private readonly identityOf: (instance: string) => NodeIdentity,
    private readonly living: LivingList,
    private readonly violated: (text: string) => void,
  ) {}

  /** A node begins to submit a task. */
  asked(id: string, to: TaskTarget): void {
    this.#asked.set(id, [...(this.#asked.get(id) ?? []), to]);
  }

  /** The handler begins on a node, whatever the record says. */
  began(id: string, node: NodeIdentity): void {
    const mayRun = ({ instance, orAnother, ...patterns }: TaskTarget) =>
      (instance === node.instance && matches({ instance, ...patterns }, node)) ||
      ((instance === undefined || orAnother === true) && matches(patterns, node));
    if (this.#asked.get(id)?.some(mayRun)) return;
    this.violated(`T13 ${id} runs on ${node.instance}, which no submission has named`);
  }

  observe(key: string, former: string | undefined, next: string | undefined): void {
    if (next === undefined || !this.#asked.has(key)) return;
    const [before, after] = [former === undefined ? undefined : decodeTask(former), decodeTask(next)];
    this.#addressed(before, after);
    if (after.state === 'claimed' && before?.state === 'waiting' && !matches(after.to!, this.identityOf(after.owner!)))
      this.violated(`T13 ${key} was claimed by ${after.owner}, and is addressed to ${JSON.stringify(after.to)}`);
  }

  #addressed(before: Task | undefined, { id, to }: Task): void {
    if (!to) return this.violated(`T13 ${id} has lost its address`);
    if (before && JSON.stringify(before.to) === JSON.stringify(to)) return;
    const isNew = !before || hasEnded(before);
    if (isNew && this.#asked.get(id)!.some((asked) => JSON.stringify(asked) === JSON.stringify(to))) return;
    if (isNew || !before.to) return this.violated(`T13 ${id} has the address ${JSON.stringify(to)}, not its own`);
    this.#moved(id, before.to, to);
  }

  #moved(id: string, from: TaskTarget, to: TaskTarget): void {
    const { instance: former, ...others } = from;
    const { instance, ...patterns } = to;
    if (!from.orAnother || JSON.stringify(others) !== JSON.stringify(patterns))
      this.violated(`T13 ${id} moved from ${JSON.stringify(from)} to ${JSON.stringify(to)}`);
    if (!this.living.wasGone(former!)) this.violated(`T13 ${id} moved away from ${former}, which lives`);
    if (!matches(to, this.identityOf(instance!))) this.violated(`T13 ${id} moved to ${instance}, which does not match`);
  }
}

function matches({ group = '.*', acquirer = '.*', instance }: TaskTarget, node: NodeIdentity): boolean {
  const isWhole = (pattern: string, text: string) => new RegExp(`^(?:${pattern})$`).test(text);
  if (instance !== undefined && instance !== node.instance) return false;
  return isWhole(group, node.group) && isWhole(acquirer, node.acquirer);
}
