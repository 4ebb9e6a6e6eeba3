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
  /** Instead of the one that is kept. */
  readonly token?: string;
}

/** @throws ApiError */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  const response = await request(path, options);
  return (await response.json()) as T;
}

interface RequestOptions extends CallOptions {
  readonly accept?: string;
  /** The ETag of the answer that is there already. */
  readonly known?: string | undefined;
  /** A status that has an answer, too, when its body is plain JSON: a refusal is problem+json. */
  readonly otherStatus?: number | undefined;
}

/** The response of a call that went well, or (304) has nothing new to tell. @throws ApiError */
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
    throw new ApiError(0, { title: 'No node can be reached: is the application running, and the network up?' });
  }
}

/** An answer that is no problem+json comes from a proxy, and says nothing worth showing. */
async function problemOf(response: Response): Promise<Problem> {
  try {
    const problem: unknown = await response.json();
    return typeof problem === 'object' && problem !== null ? problem : {};
  } catch {
    return {};
  }
}
