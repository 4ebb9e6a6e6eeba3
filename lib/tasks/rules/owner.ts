import type { Task } from './task.js';

/**
 * Owners of claims of external workers, which are no nodes. A claim under a permit has the permit's holder in it, so any
 * node finds the permit by the task's record alone:
 *
 *     http:importer            without a permit
 *     1k9x2.7@http:importer    under the permit of holder 1k9x2.7
 *
 * Holders are ids of a node: they have neither "@" nor ":". So no other worker's owner looks like this one.
 */
const HOLDER = /^[0-9a-z.]+$/;

/** @param instance of the worker: the same on all nodes, with a colon @param holder of its permit, if it has one */
export function ownerOf(instance: string, holder?: string): string {
  return holder === undefined ? instance : `${holder}@${instance}`;
}

/** The worker's instance, without the holder of its permit. */
export function instanceIn(owner: string): string {
  const at = owner.indexOf('@');
  return at > 0 && HOLDER.test(owner.slice(0, at)) ? owner.slice(at + 1) : owner;
}

/** Holder of the permit under which the task was claimed; undefined if it was claimed without one. */
export function holderIn(owner: string): string | undefined {
  const instance = instanceIn(owner);
  return instance === owner ? undefined : owner.slice(0, owner.length - instance.length - 1);
}

/** Whether the attempt with this token is the present one, and of this worker. */
export function isHeldBy(task: Task, { token, instance }: { readonly token: number; readonly instance: string }) {
  return task.state === 'claimed' && task.token === token && instanceIn(task.owner!) === instance;
}
