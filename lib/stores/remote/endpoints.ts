import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { NoQuorumError, StoreUnavailableError, UnknownOutcomeError } from '../../core/store/store.errors.js';
import type { AnswerOf, BodyOf, Call } from './protocol.js';
import { RemoteRefusedError, misunderstood } from './failures.js';
import type { HttpTransport } from './http-transport.js';
import { otherShape } from './other-shape.js';

/** Limits of one call. */
export interface Asking {
  /** ms for all addresses together, without the wait of the other side. */
  readonly timeout: number;
  /** ms for which the other side may wait before it answers. Default 0. */
  readonly wait?: number;
  /** Ends the call. */
  readonly signal?: AbortSignal;
}

/** Addresses of nodes of the same cluster. Uses one address until it fails, then the next. */
export class Endpoints {
  #current = 0;

  constructor(private readonly transport: HttpTransport) {}

  /**
   * Asks one address after the other. A write is sent to the next address only if it surely had no effect before. Only a call
   * without an effect shares its time among the addresses: another one may be done after its answer was given up.
   *
   * @throws RemoteRefusedError, StoreUnavailableError, NoQuorumError; for writes also UnknownOutcomeError
   */
  async call<C extends Call>(call: C, body: BodyOf<C>, { timeout, wait = 0, signal }: Asking): Promise<AnswerOf<C>> {
    const { urls } = this.transport.access;
    const deadline = performance.now() + wait + timeout;
    let worst: StoreUnavailableError | undefined;
    for (let left = urls.length; left > 0; left--) {
      const patience = (deadline - performance.now()) / (call.effect === 'none' ? left : 1);
      if (worst && patience <= 0) break;
      const { url, index } = this.current;
      try {
        // The next address has what is left of the wait.
        const rest = Math.max(0, deadline - performance.now() - timeout);
        const asked = call.waits && worst ? { ...(body as object), patience: rest } : body;
        const place = `${url}/${call.path}`;
        const sending = { body: asked, timeout: patience, signal };
        return await this.transport.send(place, sending, (response) => answerOf(call, place, response));
      } catch (error) {
        // The caller has ended it, so it says nothing about the address.
        if (signal?.aborted) throw error;
        this.failed(index);
        const failure = call.effect === 'writes' ? error : withoutWrite(error);
        if (!(failure instanceof StoreUnavailableError) || failure instanceof NoQuorumError) throw failure;
        if (!(worst instanceof RemoteRefusedError)) worst = failure;
      }
    }
    throw worst!;
  }

  /** The address to use now, and its index for {@link failed}. */
  get current(): { readonly url: string; readonly index: number } {
    return { url: this.transport.access.urls[this.#current]!, index: this.#current };
  }

  /** Switches to the next address, unless another call has already done so. */
  failed(index: number): void {
    if (index === this.#current) this.#current = (index + 1) % this.transport.access.urls.length;
  }
}

/** @throws RemoteRefusedError for an answer that is none of the protocol; for writes UnknownOutcomeError */
async function answerOf<C extends Call>(call: C, url: string, response: IncomingMessage): Promise<AnswerOf<C>> {
  const sent = await text(response);
  const writes = call.effect === 'writes';
  let answer: unknown;
  try {
    answer = JSON.parse(sent);
  } catch {
    // The error of the parser quotes the text, which may contain a secret.
    throw misunderstood(url, `${response.headers['content-type'] ?? 'a text'} that is no JSON`, writes);
  }
  const { success, data, error } = call.answer.safeParse(answer);
  if (success) return data as AnswerOf<C>;
  throw misunderstood(url, otherShape(answer, error.issues[0]!.path), writes);
}

/** A call that writes nothing only found the store unavailable. Hints that it took are lost, which they may be. */
function withoutWrite(error: unknown): unknown {
  return error instanceof UnknownOutcomeError ? new StoreUnavailableError(error.message, { cause: error }) : error;
}
