/**
 * The other half of a fencing token: the guarded resource keeps the highest token that it has seen per semaphore and
 * slot, and refuses lower ones. However late a write comes, it can't undo that of a later holder.
 *
 * A database does it in the statement that writes, since check and write must be one step:
 * `UPDATE report SET text = $1, token = $2 WHERE id = $3 AND token <= $2`, and no row updated means: stale.
 *
 * @see https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
 */
export class Fence {
  readonly #highest = new Map<string, number>();

  /** @returns whether the token may write; if so it is the highest from now on */
  admits(place: string, token: number): boolean {
    if (token < this.highest(place)) return false;
    this.#highest.set(place, token);
    return true;
  }

  highest(place: string): number {
    return this.#highest.get(place) ?? 0;
  }
}
