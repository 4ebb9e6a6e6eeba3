import type { SubmitOptions } from '../../../lib/tasks/index.js';
import type { Chance } from '../world/chance.js';
import { TROUBLE, type TasksScene } from './tasks-scene.js';

/** Which members of groups fail their group, in schedules that have such. */
export class StopPlan {
  readonly #flagged = new Map<string, boolean | undefined>();

  constructor(
    private readonly chance: Chance,
    private readonly isActive: boolean,
  ) {}

  /** Options of a member. Two of three have the flag, the same at each submission. */
  optionsOf(id: string): SubmitOptions {
    return this.#draw(id) === undefined ? {} : { failGroupFast: true };
  }

  /** Whether no attempt at the task succeeds. */
  isBad(id: string): boolean {
    return this.#draw(id) ?? false;
  }

  /** Groups of sub-tasks are drawn for all parents together. */
  #draw(of: string): boolean | undefined {
    const id = of.replace(/\^[^/]*\//, '');
    if (!this.isActive || !/^(import|leaf)\[/.test(id)) return undefined;
    const { chance } = this;
    if (!this.#flagged.has(id)) this.#flagged.set(id, chance.happens(0.66) ? chance.happens(0.2) : undefined);
    return this.#flagged.get(id);
  }

  /** People cancel whole groups. */
  plan(scene: TasksScene, groups: readonly { readonly name: string }[]): void {
    if (!this.isActive || groups.length === 0) return;
    const { chance } = this;
    for (let count = chance.whole(0, 3); count > 0; count--) {
      const { name } = chance.pick(groups);
      scene.time.after(chance.between(700, TROUBLE), () => this.#cancel(scene, name));
    }
  }

  #cancel(scene: TasksScene, group: string): void {
    const nodes = scene.staying.filter(({ process }) => process.isRunning);
    if (nodes.length === 0) return;
    const node = this.chance.pick(nodes);
    const type = group === 'forest' ? 'tree' : 'import';
    const cancel = async () => {
      const { outcome, because } = await node.tasks.cancelGroup(type, group);
      scene.trace.note(node.name, () => `cancel group ${group}: ${outcome}, ${because}`);
      if (outcome === 'cancelled') scene.stopped.expectStopped(`${type}[${group}]`);
    };
    scene.trace.note(node.name, () => `by hand: cancel group ${group}`);
    node.watch('cancelGroup', cancel());
  }
}
