import { ConflictException, Injectable } from '@nestjs/common';
import type { PermitToken } from '../permit-token.js';

// #region fence
/**
 * Keeps the highest token per semaphore and slot: in one process, for as long as it lives. A service that is restarted,
 * or runs more than once, keeps it where its data are (see postgresql/).
 */
@Injectable()
export class FenceService {
  readonly #highest = new Map<string, number>();

  /**
   * Checks and notes the token in one turn of the event loop. Call it after the last await before the write: at the
   * door alone, a write that then waits for something would be overtaken by a newer one.
   *
   * @throws ConflictException (409) when a newer permit has been here
   */
  admit({ semaphore, slot, token }: PermitToken): void {
    const place = JSON.stringify([semaphore, slot]);
    const highest = this.#highest.get(place) ?? 0;
    if (token < highest) throw new ConflictException(`token ${token} of ${place} is stale: ${highest} has been here`);
    this.#highest.set(place, token);
  }
}
// #endregion
