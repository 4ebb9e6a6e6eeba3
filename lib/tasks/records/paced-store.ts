import { Slices } from '../../core/async/slices.js';
import type { NodeClock } from '../../core/async/node-clock.js';
import type { HintQueue, TextEntry } from '../../core/store/index.js';
import type { Store } from '../../core/store/store.js';
import { FIRST_BATCH, behindText, batchAfter, batchesOf } from '../../core/store/text-batches.js';

/** Ranges and queues of a store. Many large texts come in batches, each in a turn of the event loop. */
export class PacedStore {
  readonly #slices: Slices;

  constructor(
    private readonly store: Pick<Store, 'tasks' | 'queue'>,
    clock: NodeClock,
  ) {
    this.#slices = Slices.of(clock);
  }

  /** @param batch texts of the first read @throws StoreUnavailableError */
  async range(from: string, to: string, limit: number, batch = FIRST_BATCH): Promise<TextEntry[]> {
    const rows: TextEntry[] = [];
    for (let [begin, most] = [from, Math.min(batch, limit)]; ;) {
      const found = await this.#paced(this.store.tasks.range(begin, to, most));
      rows.push(...found);
      if (found.length < most || rows.length >= limit) return rows;
      begin = behindText(found.at(-1)!.text);
      most = Math.min(batchAfter(found.map(({ text }) => text)), limit - rows.length);
    }
  }

  queue(name: string): HintQueue {
    const queue = this.store.queue(name);
    return {
      offer: (hints) => this.#inBatches(hints, (batch) => queue.offer(batch)),
      remove: (hints) => this.#inBatches(hints, (batch) => queue.remove(batch)),
      drain: (most) => this.#paced(queue.drain(most)),
      peek: () => this.#paced(queue.peek()),
      size: () => this.#paced(queue.size()),
      poll: (patience, signal) => queue.poll(patience, signal),
    };
  }

  async #inBatches(hints: readonly string[], send: (batch: readonly string[]) => Promise<void>): Promise<void> {
    for (const batch of batchesOf(hints)) {
      await send(batch);
      await this.#slices.turn();
    }
  }

  async #paced<T>(call: Promise<T>): Promise<T> {
    const answer = await call;
    await this.#slices.turn();
    return answer;
  }
}
