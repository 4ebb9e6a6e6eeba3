import type { Task } from './task.js';
import type { TaskProgress } from './task-parts.js';

/** A claimed task, with the text that stands in the store as far as this node knows. */
export class Claim {
  /** Nonces of writes of this claim. One whose outcome was unknown may turn out to be applied. */
  readonly written = new Set<string>();
  /** Ids of sub-tasks that this attempt has submitted: they are surely in the store. */
  readonly confirmed = new Set<string>();
  /** The last report of this attempt. Each write takes it along. */
  progress?: TaskProgress;
  #task: Task;
  #text: string;

  constructor(task: Task, text: string) {
    this.#task = task;
    this.#text = text;
  }

  get task(): Task {
    return this.#task;
  }

  /** The task with what this attempt has reported since the last write. */
  get current(): Task {
    return this.progress ? { ...this.#task, progress: this.progress } : this.#task;
  }

  get text(): string {
    return this.#text;
  }

  follow(task: Task, text: string): void {
    this.#task = task;
    this.#text = text;
  }

  /** Whether `other` is the same claim, perhaps changed since. */
  covers(other: Task): boolean {
    return other.state === 'claimed' && other.token === this.task.token && other.owner === this.task.owner;
  }
}

/** Whether a text found is of this claim: of an earlier write of it, or one that ended it and from which another node has gone on. */
export function isOfClaim({ nonce, ending, formerEnd }: Task, { written }: Claim): boolean {
  const by = formerEnd?.by ?? ending?.by;
  return written.has(nonce) || (by !== undefined && written.has(by));
}

/** Why an attempt does not have its task any more. @param found the task as it stands now */
export function whyLost(found: Task | undefined, { token }: Pick<Task, 'token'>): string {
  if (!found) return 'the store no longer has it';
  if (found.ending?.outcome === 'cancelled') return 'it was cancelled';
  if (found.token > token) return 'its lease ended, and another node took it';
  return 'its lease ended';
}

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
