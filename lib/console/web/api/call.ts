import { PAGE_HEADER } from '../../api/limits.js';
import { ApiError, type Problem } from './api-error.js';
import { apiBase } from './base.js';

type Listener = () => void;
let onUnauthorized: Listener = () => undefined;

/** Sets the listener that runs when any call is refused because this browser has no session, or none that is valid. */
export function whenUnauthorized(listener: Listener): void {
  onUnauthorized = listener;
}

export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** The token of a sign-in. All other calls have the session that the browser keeps in a cookie. */
  readonly token?: string;
  /** Whether the call asks if there is a session. Then a refusal is an answer. Default false. */
  readonly isSignIn?: boolean;
}

/** Calls the API and reads its answer as JSON. @throws ApiError */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  const response = await request(path, options);
  return (await response.json()) as T;
}

interface RequestOptions extends CallOptions {
  readonly accept?: string;
  /** ETag of the answer that the page already has. */
  readonly known?: string | undefined;
  /** Status of an answer that is not a refusal, if its body is plain JSON. Refusals are problem+json. */
  readonly otherStatus?: number | undefined;
}

/** Returns the response of a successful call, or of an unchanged answer (304). @throws ApiError */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const response = await send(path, options);
  if (response.ok || response.status === 304 || isOther(response, options)) return response;
  if (response.status === 401 && !options.isSignIn) onUnauthorized();
  throw new ApiError(response.status, await problemOf(response));
}

function isOther({ status, headers }: Response, { otherStatus }: RequestOptions): boolean {
  return status === otherStatus && (headers.get('Content-Type') ?? '').startsWith('application/json');
}

async function send(path: string, { method = 'GET', body, signal, ...options }: RequestOptions) {
  const { token } = options;
  const headers = {
    Accept: options.accept ?? 'application/json',
    [PAGE_HEADER]: location.port,
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(options.known && { 'If-None-Match': options.known }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  };
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  try {
    return await fetch(new URL(path, apiBase), {
      method,
      headers,
      ...content,
      ...(signal && { signal }),
      cache: 'no-store',
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, {
      title: 'No node can be reached: check that the application runs, and that the network works.',
    });
  }
}

/** Reads the body of an error. A body that is not JSON comes from a proxy, and its text does not help the user. */
async function problemOf(response: Response): Promise<Problem> {
  try {
    const problem: unknown = await response.json();
    return typeof problem === 'object' && problem !== null ? problem : {};
  } catch {
    return {};
  }
}
