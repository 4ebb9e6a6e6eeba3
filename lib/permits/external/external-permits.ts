import { InvalidOptionsError, durationFault, quoted, unreserved } from '../../decision/index.js';
import type { Context } from '../../context/context.js';
import type { NodeSemaphore } from '../node-semaphore.js';
import type { Ask } from '../wait-queue.js';
import type { ExternalAnswer, ExternalPermit, ExternalRequest, ExternalWait } from './external-calls.js';
import { type Asking, ExternalRecord, isSame } from './external-record.js';

/**
 * Permits of external clients, which are no nodes: they ask a node, hold by their own clock, and may ask another node
 * next. Nothing is kept here between two requests: the record alone says what is true of a permit. So no node notifies
 * the holder of its end; a client that wants to keep a permit asks for a refresh in time.
 */
export class ExternalPermits {
  #isClosed = false;
  readonly #calls = new Set<{ readonly semaphore: NodeSemaphore }>();

  constructor(
    private readonly visit: <T>(name: string, work: (semaphore: NodeSemaphore) => Promise<T>) => Promise<T>,
    private readonly context: Context,
  ) {}

  /** The number of requests that wait here for a permit, or are about to get one. */
  get waiting(): number {
    return this.#calls.size;
  }

  /**
   * Takes a permit, and waits for one up to `wait` ms, in one line with the waiters of this node.
   *
   * @throws UnknownSemaphoreError, InvalidOptionsError, the errors of a store that can't be asked, or the signal's reason
   */
  async take(request: ExternalRequest, options: ExternalWait): Promise<ExternalAnswer> {
    this.#checkDuration(request);
    options.signal.throwIfAborted();
    return this.visit(unreserved(request.semaphore), (semaphore) => this.#take(semaphore, request, options));
  }

  async #take(semaphore: NodeSemaphore, request: ExternalRequest, options: ExternalWait): Promise<ExternalAnswer> {
    const { nodeClock, random } = this.context;
    const began = nodeClock.monotonic();
    const record = new ExternalRecord(semaphore, this.context);
    const call = { semaphore };
    this.#calls.add(call);
    try {
      const answer = await this.#inTurn(semaphore, options, (mayTake) => {
        const asking = { mayTake, permitId: random.id(), waited: nodeClock.monotonic() - began };
        return this.#ask(record, request, asking, options.signal);
      });
      return answer.outcome === 'granted' ? answer : record.withEnd(answer);
    } finally {
      this.#calls.delete(call);
    }
  }

  /** A call that does not wait asks at once; one that waited in vain learns who has the permits now. */
  async #inTurn({ waitQueue }: NodeSemaphore, { wait, signal }: ExternalWait, ask: Ask<ExternalAnswer>) {
    if (wait <= 0) return ask(true);
    const answer = await waitQueue.wait(ask, { timeout: wait, signal });
    signal.throwIfAborted();
    return answer.outcome === 'granted' ? answer : ask(false);
  }

  /** @throws the signal's reason when its client went away */
  async #ask(
    record: ExternalRecord,
    request: ExternalRequest,
    asking: Asking,
    signal: AbortSignal,
  ): Promise<ExternalAnswer> {
    if (this.#isClosed) return { outcome: 'denied', reason: 'closing', holders: [] };
    const answer = await record.take(request, asking);
    // A permit that was there already may still be in use by an earlier answer.
    const isNew = answer.outcome === 'granted' && answer.permit.id === asking.permitId;
    if (signal.aborted && isNew) await record.giveBack(answer.permit);
    signal.throwIfAborted();
    return answer;
  }

  /**
   * Lets a permit last longer. Never grants anew: a permit that is over stays so.
   *
   * @param permit with the token of its answer
   * @throws as {@link take}
   */
  async refresh(
    permit: ExternalPermit & { readonly token: number },
    options: Pick<ExternalRequest, 'duration' | 'isBounded'> = {},
  ): Promise<ExternalAnswer> {
    const asked = { ...options, semaphore: unreserved(permit.semaphore) };
    this.#checkDuration(asked);
    return this.#visit(permit.semaphore, (record) => record.refresh(permit, asked));
  }

  /**
   * @param options.atLeastFor ms from its grant for which the slot stays taken, as long as the permit would have lasted at
   *   most. The end stands in the record: no node needs to live until then.
   * @returns false when it was not held any more
   */
  async release(permit: ExternalPermit, { atLeastFor }: { readonly atLeastFor?: number } = {}): Promise<boolean> {
    const isIt = (each: Parameters<typeof isSame>[0]) => isSame(each, permit);
    return this.#visit(unreserved(permit.semaphore), (record) => record.free(isIt, atLeastFor));
  }

  #visit<T>(name: string, work: (record: ExternalRecord) => Promise<T>): Promise<T> {
    return this.visit(name, (semaphore) => work(new ExternalRecord(semaphore, this.context)));
  }

  /** Ends all waiting: they are denied as `closing`. */
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
