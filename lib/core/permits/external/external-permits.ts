import { InvalidOptionsError, type StoredPermit, durationFault, quoted, unreserved } from '../../decision/index.js';
import type { Context } from '../../context/context.js';
import type { NodeSemaphore } from '../node-semaphore.js';
import type { Ask } from '../wait-queue.js';
import type { ExternalAnswer, ExternalPermit, ExternalRequest, ExternalWait } from './external-calls.js';
import { type Asking, ExternalRecord, isSame } from './external-record.js';

/**
 * Permits of external clients, which are not nodes. A client asks any node, measures its permit's time with its own
 * clock, and may send the next request to another node. So this node keeps nothing between two requests: only the
 * record knows the permit. No node notifies the holder when the permit ends. A client that wants to keep its permit
 * must ask for a refresh in time.
 */
export class ExternalPermits {
  #isClosed = false;
  readonly #calls = new Set<{ readonly semaphore: NodeSemaphore }>();

  constructor(
    private readonly directory: { of(name: string): NodeSemaphore },
    private readonly context: Context,
  ) {}

  /** Number of requests for a permit that this node has not answered yet. */
  get waiting(): number {
    return this.#calls.size;
  }

  /**
   * Takes a permit. Waits up to `wait` ms, in the same queue as the waiters of this node.
   *
   * @throws UnknownSemaphoreError, InvalidOptionsError, errors of a store that can't be asked, or the signal's reason
   */
  async take(request: ExternalRequest, options: ExternalWait): Promise<ExternalAnswer> {
    this.#checkDuration(request);
    options.signal.throwIfAborted();
    const semaphore = this.directory.of(unreserved(request.semaphore));
    return semaphore.use((inUse) => this.#take(inUse, request, options));
  }

  async #take(semaphore: NodeSemaphore, request: ExternalRequest, options: ExternalWait): Promise<ExternalAnswer> {
    const { nodeClock, random } = this.context;
    const began = nodeClock.monotonic();
    const record = new ExternalRecord(semaphore, this.context);
    const call = { semaphore };
    this.#calls.add(call);
    try {
      const answer = await this.#inTurn(semaphore, options, (mayTake) => {
        const waited = nodeClock.monotonic() - began;
        return this.#ask(record, request, { mayTake, permitId: random.id(), waited, signal: options.signal });
      });
      return answer.outcome === 'granted' ? answer : record.withEnd(answer);
    } finally {
      this.#calls.delete(call);
    }
  }

  /** A call without `wait` asks at once. A call that waited without success asks once more for the present holders. */
  async #inTurn({ waitQueue }: NodeSemaphore, { wait, signal }: ExternalWait, ask: Ask<ExternalAnswer>) {
    if (wait <= 0) return ask(true);
    const answer = await waitQueue.wait(ask, { timeout: wait, signal });
    signal.throwIfAborted();
    return answer.outcome === 'granted' ? answer : ask(false);
  }

  /** @throws the signal's reason if the client has gone away */
  async #ask(record: ExternalRecord, request: ExternalRequest, asking: Asking): Promise<ExternalAnswer> {
    if (this.#isClosed) return { outcome: 'denied', reason: 'closing', holders: [] };
    const answer = await record.take(request, asking);
    asking.signal?.throwIfAborted();
    return answer;
  }

  /**
   * Refreshes a permit. Never grants a new one: a permit that has ended stays lost.
   *
   * @param permit with the token of the answer that granted it
   * @throws the same errors as {@link take}
   */
  async refresh(
    permit: ExternalPermit & { readonly token: number },
    options: Pick<ExternalRequest, 'duration' | 'isBounded'> = {},
  ): Promise<ExternalAnswer> {
    const asked = { ...options, semaphore: unreserved(permit.semaphore) };
    this.#checkDuration(asked);
    const isIt = (each: StoredPermit) => isSame(each, permit) && each.token === permit.token;
    return this.#visit(permit.semaphore, (record) => record.refresh(isIt, asked));
  }

  /**
   * Releases a permit.
   *
   * @param options.atLeastFor ms from the grant for which the slot stays taken, at most until the permit would have
   *   expired. The record contains this end, so no node needs to live until then.
   * @returns false if the permit was no longer held
   */
  async release(permit: ExternalPermit, { atLeastFor }: { readonly atLeastFor?: number } = {}): Promise<boolean> {
    const isIt = (each: StoredPermit) => isSame(each, permit);
    return this.#visit(unreserved(permit.semaphore), (record) => record.free(isIt, atLeastFor));
  }

  #visit<T>(name: string, work: (record: ExternalRecord) => Promise<T>): Promise<T> {
    return this.directory.of(name).use((semaphore) => work(new ExternalRecord(semaphore, this.context)));
  }

  /** Ends all waiting calls: they are denied as `closing`. */
  close(): void {
    this.#isClosed = true;
    for (const { semaphore } of this.#calls) semaphore.waitQueue.wake();
  }

  /** @throws InvalidOptionsError */
  #checkDuration({ semaphore, duration }: Pick<ExternalRequest, 'semaphore' | 'duration'>): void {
    const fault = duration === undefined ? undefined : durationFault(duration, this.context.timing.clockTolerance);
    if (fault) throw new InvalidOptionsError(`a permit of semaphore ${quoted(semaphore)}`, [fault]);
  }
}
