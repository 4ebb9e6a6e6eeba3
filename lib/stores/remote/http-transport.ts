import { Agent as HttpAgent, type IncomingMessage, request as http } from 'node:http';
import { Agent as HttpsAgent, request as https } from 'node:https';
import { text } from 'node:stream/consumers';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import { failureOf, unansweredBy } from './failures.js';
import { MEDIA_TYPE } from './protocol.js';

/** The checked options of `remote()`. */
export interface Access {
  readonly urls: readonly string[];
  readonly token: string;
  /** Agent of the application, never closed. */
  readonly agent?: HttpAgent | undefined;
}

interface Sending {
  /** Sent as JSON with POST. Without a body the request is a GET. */
  readonly body?: unknown;
  /** Timeout in ms for the whole request. Default: no timeout. */
  readonly timeout?: number;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * ms after which an idle connection is closed. Shorter than Node's 5 s, so that no request meets a closing connection.
 */
const IDLE = 4000;

/**
 * Sends requests to the other application, over its own connections, which it closes. Does not use `fetch`, because
 * `fetch` does not show whether a failed request was sent, and leaves connections open.
 */
export class HttpTransport {
  readonly #underWay = new Set<AbortController>();
  readonly #agents = {
    http: new HttpAgent({ keepAlive: true, timeout: IDLE }),
    https: new HttpsAgent({ keepAlive: true, timeout: IDLE }),
  };
  #isClosed = false;

  constructor(readonly access: Access) {}

  /**
   * Sends one request. `take` must read the answer to its end.
   *
   * @param url the complete URL
   * @throws StoreUnavailableError if surely nothing was done
   * @throws UnknownOutcomeError if the request may have had an effect
   */
  async send<T>(url: string, sending: Sending, take: (response: IncomingMessage) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new StoreUnavailableError('The remote store is closed: open another one');
    const { body, timeout, signal } = sending;
    const controller = new AbortController();
    // Not AbortSignal.any(): with a signal that lives as long as the node, its results are never freed.
    const giveUp = () => controller.abort(signal!.reason);
    signal?.addEventListener('abort', giveUp);
    if (signal?.aborted) giveUp();
    const tooLate = () => controller.abort(new Error(`no answer within ${Math.round(timeout!)} ms`));
    const late = timeout === undefined ? undefined : setTimeout(tooLate, timeout);
    this.#underWay.add(controller);
    try {
      return await this.#exchange(url, body, controller.signal, take);
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', giveUp);
      this.#underWay.delete(controller);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const controller of this.#underWay) controller.abort(new Error('the store was closed'));
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  async #exchange<T>(
    url: string,
    body: unknown,
    signal: AbortSignal,
    take: (response: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    const flight = { hasLeft: false };
    try {
      const response = await this.#request(url, body, signal, flight);
      if (response.statusCode === 200) return await take(response);
      throw failureOf(url, response.statusCode!, response.headers['content-type'], await text(response));
    } catch (error) {
      throw unansweredBy(url, signal.aborted ? signal.reason : error, flight.hasLeft);
    }
  }

  #request(url: string, body: unknown, signal: AbortSignal, flight: { hasLeft: boolean }): Promise<IncomingMessage> {
    const isSecure = url.startsWith('https:');
    const agent = this.access.agent ?? this.#agents[isSecure ? 'https' : 'http'];
    const sent = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${this.access.token}`,
      ...(body !== undefined && { 'content-type': MEDIA_TYPE, 'content-length': Buffer.byteLength(sent) }),
    };
    const method = body === undefined ? 'GET' : 'POST';
    return new Promise((resolve, reject) => {
      const request = (isSecure ? https : http)(url, { method, headers, agent, signal });
      // Until the connection is established, nothing is sent.
      request.once('socket', (socket) => {
        if (!socket.connecting) flight.hasLeft = true;
        else socket.once(isSecure ? 'secureConnect' : 'connect', () => (flight.hasLeft = true));
      });
      // `on`, not `once`: an error may also come after the answer has begun. Then the reader of the answer fails with
      // it.
      request.on('error', reject);
      request.once('response', resolve);
      request.end(sent);
    });
  }
}
