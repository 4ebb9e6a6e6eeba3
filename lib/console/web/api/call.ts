import { ApiError, type Problem } from './api-error.js';
import { apiBase } from './base.js';
import { token } from './token.js';

type Listener = () => void;
let onUnauthorized: Listener = () => undefined;

/** A call without a valid token leads back to the login, wherever it was made. */
export function whenUnauthorized(listener: Listener): void {
  onUnauthorized = listener;
}

export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** Replaces the stored token. */
  readonly token?: string;
}

/** @throws ApiError */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  const response = await request(path, options);
  return (await response.json()) as T;
}

interface RequestOptions extends CallOptions {
  readonly accept?: string;
  /** ETag of the answer that the page has already. */
  readonly known?: string | undefined;
  /** Another status that counts as an answer if its body is plain JSON; refusals are problem+json. */
  readonly otherStatus?: number | undefined;
}

/** The response of a successful call, or of one without changes (304). @throws ApiError */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const response = await send(path, options);
  if (response.ok || response.status === 304 || isOther(response, options)) return response;
  if (response.status === 401 && options.token === undefined) onUnauthorized();
  throw new ApiError(response.status, await problemOf(response));
}

function isOther({ status, headers }: Response, { otherStatus }: RequestOptions): boolean {
  return status === otherStatus && (headers.get('Content-Type') ?? '').startsWith('application/json');
}

async function send(path: string, { method = 'GET', body, signal, ...options }: RequestOptions) {
  const bearer = options.token ?? token.get();
  const headers = {
    Accept: options.accept ?? 'application/json',
    ...(bearer && { Authorization: `Bearer ${bearer}` }),
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

/** An error that is not problem+json comes from a proxy; its text is not worth showing. */
async function problemOf(response: Response): Promise<Problem> {
  try {
    const problem: unknown = await response.json();
    return typeof problem === 'object' && problem !== null ? problem : {};
  } catch {
    return {};
  }
}
