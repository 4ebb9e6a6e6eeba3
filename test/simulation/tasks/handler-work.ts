import { InvalidTaskError, RetryLaterError, type TaskContext } from '../../../lib/tasks/index.js';
import type { Chance } from '../world/chance.js';
import type { TaskNode } from './task-node.js';

/** The handler of all types: works for a while, renews its lease or not, and fails by chance while there is trouble. */
export async function workOn(task: TaskContext, node: TaskNode, chance: Chance): Promise<unknown> {
  const { scene, name } = node;
  if (scene.stops.isBad(task.id)) throw new InvalidTaskError('simulated: it fails its group');
  for (let steps = chance.whole(0, 2); steps > 0; steps--) {
    if (scene.hasReports) task.progress(task.token, task.token, name);
    await node.pause(chance.skewed(1, scene.lease));
    if (task.signal.aborted && chance.happens(0.7)) throw task.signal.reason as Error;
    if (chance.happens(0.3)) await task.lease.renew(Math.round(scene.lease * chance.between(0.9, 1.5)));
  }
  // In the end each task can be done: otherwise it would depend on chance whether a schedule ends.
  if (scene.isTrouble && chance.happens(0.1)) throw new Error('simulated: the handler failed');
  if (scene.isTrouble && chance.happens(0.05)) throw new RetryLaterError(chance.whole(1, 1000));
  if (chance.happens(0.02)) throw new InvalidTaskError('simulated: no attempt can succeed');
  return { by: name };
}
