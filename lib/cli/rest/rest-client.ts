import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';
import { quoted } from '../../core/decision/index.js';
import { CommandFailure, EXIT, UsageFailure } from '../options/exit-code.js';
import { RemoteProblem, failureOf } from './problem.js';
// Not from the index, because that also loads Nest, which takes long.
import { ROUTES } from '../../console/api/routes.js';
import { RouteTable } from '../../console/http/route-table.js';
import { otherShape } from '../../stores/remote/other-shape.js';

/** ms until the next try after the console's rate limit refused a change. */
const A_MOMENT = 1000;
const EVENTS = 'text/event-stream';
const NOT_A_CONSOLE =
  'give the address of a console of this version with --url, and look for a proxy or a middleware that changes its answers';

export interface RestOptions {
  /** Address of the console: "https://host/gatekeeper". */
  readonly url: URL;
  /** Sent only in the Authorization header, and never printed. */
  readonly token?: string | undefined;
  /** Longest time in ms for an answer. */
  readonly timeout: number;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

interface Request {
  /** Default GET. */
  readonly method?: Method;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Factor for the timeout of this request. Default 1. */
  readonly patience?: number;
  readonly accept?: string;
  /** Status of an answer that is not a refusal, if its body is plain JSON. */
  readonly otherStatus?: number;
}

/** Sends requests to the console's API. */
export class RestClient {
  /** Address of the console, for people. */
  readonly target: string;
  readonly #underWay = new Set<AbortController>();

  constructor(private readonly options: RestOptions) {
    const { origin, pathname } = options.url;
    this.target = origin + pathname.replace(/\/+$/, '');
  }

  /**
   * Sends a request and reads its answer as JSON, which has the shape that the console's document gives it.
   *
   * @param path segments below /api/, not yet encoded
   * @throws RemoteProblem for a refusal, CommandFailure without such an answer, UsageFailure for a name that no path can have
   */
  async ask<T>(path: readonly string[], request: Request = {}): Promise<T> {
    const place = placeOf(path);
    const ending = new AbortController();
    // Node's own timers fire at once if a long timeout times the patience exceeds 24.8 days.
    const cancel = systemClock.schedule(() => ending.abort(), this.options.timeout * (request.patience ?? 1), true);
    this.#underWay.add(ending);
    try {
      const response = await this.#fetch(place, request, ending.signal);
      return (await this.#read(response, place, request, ending.signal)) as T;
    } finally {
      cancel();
      this.#underWay.delete(ending);
    }
  }

  /** Streams an answer until `signal` aborts. @throws the same errors as {@link ask} */
  async stream(path: readonly string[], signal: AbortSignal): Promise<Readable> {
    const response = await this.#fetch(placeOf(path), { accept: EVENTS }, signal);
    const { body, headers } = response;
    const type = headers.get('content-type') ?? 'a text';
    if (!type.startsWith(EVENTS)) {
      await body?.cancel();
      throw this.#misunderstood(response, `${type}, no stream of events`);
    }
    return Readable.fromWeb(body as NodeReadableStream<Uint8Array>, { signal });
  }

  /** Aborts the requests in progress. */
  close(): void {
    for (const ending of this.#underWay) ending.abort();
  }

  async #fetch(place: string, request: Request, signal: AbortSignal): Promise<Response> {
    const url = `${this.target}${place}${queryText(request.query)}`;
    const response = await fetch(url, this.#init(request, signal)).catch((error: unknown) => {
      throw this.#unreachable(error, signal);
    });
    if (response.ok || isAnswer(response, request)) return response;
    const failure = await failureOf(response, this.target);
    if (!(failure instanceof RemoteProblem) || failure.code !== 'too-many-changes') throw failure;
    // The refused call had no effect, and the console accepts some more calls each second. So a `load` of thousands can
    // go on.
    await pause(systemClock, A_MOMENT, { signal });
    if (signal.aborted) throw failure; // The time is up. The refusal says when to continue.
    return this.#fetch(place, request, signal);
  }

  #init({ method = 'GET', body, accept = 'application/json' }: Request, signal: AbortSignal): RequestInit {
    const { token } = this.options;
    return {
      method,
      signal,
      // A redirect could send the token to another host.
      redirect: 'manual',
      headers: {
        accept,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
  }

  async #read(response: Response, place: string, { method = 'GET' }: Request, signal: AbortSignal): Promise<unknown> {
    const sent = await response.text().catch((error: unknown) => {
      throw this.#unreachable(error, signal);
    });
    const answer = this.#parsed(response, sent, method);
    const got = otherShapeOf(answer, method, place);
    if (got !== undefined) throw this.#misunderstood(response, got, method);
    return answer;
  }

  #parsed(response: Response, sent: string, method: Method): unknown {
    try {
      return JSON.parse(sent);
    } catch (error) {
      const got = `${response.headers.get('content-type') ?? 'a text'} that is no JSON`;
      throw this.#misunderstood(response, got, method, error);
    }
  }

  /** @param got what came in the place of the answer. A change may have been made, or not */
  #misunderstood({ url, status }: Response, got: string, method: Method = 'GET', cause?: unknown): CommandFailure {
    const said = `${url} answered ${status} with ${got}`;
    return method === 'GET'
      ? new CommandFailure(EXIT.failed, `${said}: ${NOT_A_CONSOLE}`, { cause })
      : new CommandFailure(EXIT.unreachable, `${said}, so it is not known what was done: ${NOT_A_CONSOLE}`, { cause });
  }

  #unreachable(error: unknown, signal: AbortSignal): CommandFailure {
    const why = signal.aborted ? 'it took too long to answer' : reasonOf(error);
    const advice = 'check that it runs and that the address is right, or give a longer --timeout';
    return new CommandFailure(EXIT.unreachable, `${this.target} can't be reached (${why}): ${advice}`, {
      cause: error,
    });
  }
}

/** @param path segments below /api/ @throws UsageFailure for a name that no path can have */
function placeOf(path: readonly string[]): string {
  return `/api/${path.map(segmentOf).join('/')}`;
}

/**
 * Encodes a part of a path. fetch takes "." and ".." for folders, even if they are encoded: `pause ..` would pause all.
 *
 * @throws UsageFailure
 */
function segmentOf(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new UsageFailure(NO_SEGMENT(text));
  return encodeURIComponent(text);
}

const NO_SEGMENT = (text: string) => `${quoted(text)} can't be part of an address: give another name, or use --store`;

/** Refusals with the same status have the type problem+json. */
function isAnswer({ status, headers }: Response, { otherStatus }: Request): boolean {
  return status === otherStatus && /^application\/json\b/.test(headers.get('content-type') ?? '');
}

function queryText(query: Request['query'] = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size > 0 ? `?${given.toString()}` : '';
}

/** The message of fetch's error does not say the reason, but its cause does. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  const { code, message: causeMessage } = (cause ?? {}) as { code?: string; message?: string };
  return causeMessage || code || message;
}

const CALLS = new RouteTable(Object.values(ROUTES).map((route) => ({ route })));

/**
 * Compares an answer with the console's document. Only kinds of values count: a newer console may have more fields, and values
 * that this version does not know.
 *
 * @param path of the call, such as "/api/semaphores"
 * @returns what the answer is, if it has another shape
 */
function otherShapeOf(answer: unknown, method: string, path: string): string | undefined {
  const parsed = CALLS.find(method, path)?.served.route.answer.safeParse(answer);
  const fault = parsed?.error?.issues.find(({ code }) => code === 'invalid_type');
  return fault && otherShape(answer, fault.path);
}
