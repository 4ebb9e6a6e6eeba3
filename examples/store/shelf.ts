import { EventEmitter } from 'node:events';
import { setImmediate as hop } from 'node:timers/promises';

/** The request did not leave this process. */
export class NotSentError extends Error {}

/** The request was sent, and no answer came. */
export class NoAnswerError extends Error {}

/** The server of this example: a Map behind a network that can be down. Yours is a database. */
export class Shelf {
  readonly texts = new Map<string, string>();
  readonly journals = new Map<string, string[]>();
  /** Emits "change" with the key and the new text. */
  readonly events = new EventEmitter().setMaxListeners(0);
  isReachable = true;

  /** One step: nothing may come between the comparison and the write. */
  compareAndSet(key: string, expected: string | undefined, next: string): boolean {
    if (this.texts.get(key) !== expected) return false;
    this.texts.set(key, next);
    if (this.isReachable) this.events.emit('change', key, next);
    return true;
  }

  /** Sends a request, and waits for its answer. */
  async request<T>(work: (shelf: this) => T): Promise<T> {
    if (!this.isReachable) throw new NotSentError('the shelf refuses connections');
    await hop();
    const answer = work(this);
    await hop();
    if (!this.isReachable) throw new NoAnswerError('the connection broke before the answer came');
    return answer;
  }
}
