import { decodeTask } from '../../../lib/tasks/rules/task.codec.js';
import { Chance } from '../world/chance.js';
import type { TaskNode } from './task-node.js';
import { TROUBLE, type TasksScene } from './tasks-scene.js';

/** People who cancel, retry and explain tasks of the schedule, through any node, until the trouble ends. */
export function planByHand(scene: TasksScene, seed: number, groups: readonly { readonly name: string }[]): void {
  if (!scene.faults.has('by-hand')) return;
  const { time } = scene;
  // A stream of its own: other seeds of these numbers would change what all else in a schedule does.
  const chance = new Chance(~seed);
  const joins = groups.map(({ name }) => `import[${name}]#join`);
  const act = () => {
    const nodes = scene.staying.filter(({ process }) => process.isRunning);
    const ids = [...scene.wanted, ...joins];
    if (nodes.length === 0 || ids.length === 0) return;
    const node = chance.pick(nodes);
    const verb = chance.weighted({ cancel: 4, retry: 5, explain: 1 });
    // Mostly a task for which the verb makes sense now.
    const sensible = chance.happens(0.8) ? ids.filter((each) => suits(verb, scene.shared.tasks.get(each))) : [];
    const id = chance.pick(sensible.length > 0 ? sensible : ids);
    scene.trace.note(node.name, () => `by hand: ${verb} ${id}`);
    node.watch(verb, VERBS[verb](node, id, scene));
  };
  for (let at = chance.between(700, 2000); at < TROUBLE; at += chance.skewed(50, 2500)) time.after(at, act);
}

function suits(verb: keyof typeof VERBS, text: string | undefined): boolean {
  if (text === undefined) return false;
  const { ending } = decodeTask(text);
  return verb === 'retry' ? ending !== undefined && ending.outcome !== 'completed' : !ending;
}

const VERBS = {
  async cancel({ tasks, name }: TaskNode, id: string, { checker, trace }: TasksScene) {
    const { outcome } = await tasks.cancel(id, { reason: 'simulated' });
    trace.note(name, () => `cancel ${id}: ${outcome}`);
    if (outcome === 'cancelled' || outcome === 'requested') checker.expectCancelled(id);
  },
  async retry({ tasks, name }: TaskNode, id: string, { checker, trace }: TasksScene) {
    checker.askedAgain(id);
    const { outcome, because } = await tasks.retry(id);
    trace.note(name, () => `retry ${id}: ${outcome}, ${because}`);
  },
  async explain({ tasks, name }: TaskNode, id: string, { trace }: TasksScene) {
    const { sentence } = await tasks.explain(id);
    trace.note(name, () => `explain ${id}: ${sentence}`);
  },
};
