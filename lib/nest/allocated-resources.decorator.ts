import { sharedKey } from '../core/copies/shared.js';
import { markMethod } from './method-decorator.js';

/** Metadata on a method that is called with what this node owns: a list of names of groups. */
export const ALLOCATED_RESOURCES = sharedKey('allocated-resources');

/**
 * Calls the method after each change of what this node owns in a group, one call at a time, as the option `onAllocated`:
 * with all that the node owns, and with the change. A revoked resource goes to another node when the method has ended, or
 * after `handoverTimeout`. An error only makes a `problem` event.
 *
 * @param group one of the option `allocation.groups`, or added with `AllocationService.group()` before the application has
 *   booted
 *
 * @example
 * ```ts
 * @AllocatedResources('queues')
 * async follow(owned: readonly Allocated<Queue>[], { added, revoked }: AllocationChange<Queue>) {
 *   await Promise.all(revoked.map(({ id }) => this.stop(id)));
 *   for (const { resource, token } of added) this.start(resource, token);
 * }
 * ```
 */
export function AllocatedResources(group: string): MethodDecorator {
  return markMethod('@AllocatedResources', ALLOCATED_RESOURCES, group);
}
