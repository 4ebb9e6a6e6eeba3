import { type SemaphoreRecord, type StoredPermit, release, rewrite } from '../../semaphores/index.js';
import type { Context } from '../context/context.js';
import type { RecordKeeper } from './record-keeper.js';

type IsUnused = (permit: StoredPermit, record: SemaphoreRecord) => boolean;

/** Frees permits of one semaphore that nobody uses though the record may hold them. */
export class Reclaims {
  /** Of what is tried again later. */
  #pauses = new Set<() => void>();
  #isClosed = false;

  constructor(
    private readonly keeper: RecordKeeper,
    private readonly context: Context,
  ) {}

  /**
   * Frees a permit that this process does not use though the record may hold it, or may come to: a write whose answer
   * never came may still be on its way. Writing anything makes such a write fail, so it writes in any case.
   *
   * @param isUnused for permits that somebody else may have taken over meanwhile: whether it is still nobody's
   */
  async reclaim(permitId: string, isUnused: IsUnused = () => true): Promise<void> {
    const until = this.context.nodeClock.monotonic() + (this.keeper.known?.definition?.duration ?? 60_000);
    for (let delay = 100; !this.#isClosed; delay = Math.min(5000, delay * 2)) {
      try {
        return await this.keeper.transact<void>((record, view, nonce) => {
          if (!record) return { result: undefined };
          const stored = record.permits.find(({ id }) => id === permitId);
          const freed = stored && isUnused(stored, record) && release(record, permitId, view, nonce);
          return { write: freed || rewrite(record, {}, view, nonce), done: () => {} };
        });
      } catch (error) {
        // Closing ends the wait for the store, too: no pause may begin after those that it ended.
        if (this.#isClosed) return;
        if (this.context.nodeClock.monotonic() + delay > until) {
          this.context.events.next({ type: 'problem', semaphore: this.keeper.name, action: 'reclaim', error });
          return;
        }
        await this.#pause(delay);
      }
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const end of this.#pauses) end();
  }

  /** Until the time is over, or {@link close} ends it. */
  #pause(delay: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        this.#pauses.delete(end);
        resolve();
      };
      const cancel = this.context.nodeClock.schedule(end, delay);
      this.#pauses.add(end);
    });
  }
}
