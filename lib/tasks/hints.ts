import type { Context } from '../context/context.js';
import type { HintQueue } from '../stores/index.js';
import { SharedWork } from './shared-work.js';
import type { Priority } from './task.js';
import type { TimedStorage } from './timed-storage.js';

/** Hints that a task waits: the whole text of the task, so that a node claims it without a read. One queue per type and priority. */
export class Hints {
  readonly #offers = new SharedWork<string>((queue, hints) => this.storage.queue(queue).offer(hints));

  constructor(
    private readonly storage: Pick<TimedStorage, 'queue'>,
    private readonly context: Context,
  ) {}

  queue(type: string, priority: Priority): HintQueue {
    return this.storage.queue(queueName(type, priority));
  }

  /** Never rejects: the sweep finds a task whose hint was lost. */
  async offer({ type, priority }: { readonly type: string; readonly priority: Priority }, text: string): Promise<void> {
    await this.#offers.share(queueName(type, priority), text).catch((error: unknown) => {
      this.context.events.next({ type: 'problem', action: 'offer a task to the workers', error });
    });
  }
}

function queueName(type: string, priority: Priority): string {
  return `${type}.${priority}`;
}
