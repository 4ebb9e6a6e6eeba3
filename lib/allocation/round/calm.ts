import type { ParticipantEntry } from './registry-view.js';

/**
 * Monotonic time of the last join or clean leave of a participant, so that a rolling deploy does not move resources again
 * and again. A lease that runs out counts for nothing: its node has been gone for a lease already, and its resources
 * need an owner at once.
 */
export class Calm {
  #since = -Infinity;
  #living: ReadonlyMap<string, ParticipantEntry> | undefined;

  /** ms of this node's monotonic clock. */
  get since(): number {
    return this.#since;
  }

  /** @param hasLeft whether the node of an incarnation ended its lease itself  @param at monotonic ms */
  observe(living: ReadonlyMap<string, ParticipantEntry>, hasLeft: (inc: string) => boolean, at: number): void {
    const former = this.#living;
    this.#living = living;
    const hasJoined = [...living.keys()].some((inc) => !former?.has(inc));
    if (hasJoined || [...(former?.keys() ?? [])].some((inc) => !living.has(inc) && hasLeft(inc))) this.#since = at;
  }
}
