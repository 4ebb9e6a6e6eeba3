import type { AnswerOf, CallId, Sent, SentTo } from '../../api/calls.js';
import { PAGE_HEADER } from '../../api/limits.js';
import type { Method } from '../../api/operation.js';
import { ApiError, type Problem } from './api-error.js';
import { apiBase } from './base.js';

/**
 * Method and path of each call, below {@link apiBase}. The build takes them from the catalogue, which has schemas, so it can't
 * be part of the page.
 */
declare const CALLS: { readonly [Id in CallId]: readonly [method: Method, path: string] };

/** A path of the API with its query. Its type says which answer it gives. */
export type Path<Answer> = string & { readonly answer?: Answer };

/** An argument that may be left out, if all its fields may be. */
type Argument<Input> = Record<never, never> extends Input ? [sent?: Input] : [sent: Input];

/** The path of a call by its id. Leaves out parts of the query that are empty: a filter in the address may be. */
export function pathOf<Id extends CallId>(id: Id, ...[sent]: Argument<Omit<SentTo<Id>, 'body'>>): Path<AnswerOf<Id>> {
  return pathWith(id, (sent ?? {}) as Sent);
}

function pathWith(id: CallId, { params = {}, query = {} }: Sent): string {
  const path = CALLS[id][1].replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`the path of the call ${id} needs a value of ${name}`);
    return encodeURIComponent(value);
  });
  const given = Object.entries(query).flatMap(([name, value = '']) => (value === '' ? [] : [[name, String(value)]]));
  return given.length > 0 ? `${path}?${new URLSearchParams(given).toString()}` : path;
}

type Listener = () => void;
let onUnauthorized: Listener = () => undefined;

/** Sets the listener that runs when any call is refused because this browser has no session, or none that is valid. */
export function whenUnauthorized(listener: Listener): void {
  onUnauthorized = listener;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** The token of a sign-in. All other calls have the session that the browser keeps in a cookie. */
  readonly token?: string;
  /** Whether the call asks if there is a session. Then a refusal is an answer. Default false. */
  readonly isSignIn?: boolean;
}

/** Makes a call of the API by its id, and reads its answer as JSON. @throws ApiError */
export async function call<Id extends CallId>(
  id: Id,
  sent: SentTo<Id>,
  options: CallOptions = {},
): Promise<AnswerOf<Id>> {
  const given: Sent = sent;
  const response = await request(pathWith(id, given), { ...options, method: CALLS[id][0], body: given.body });
  return (await response.json()) as AnswerOf<Id>;
}

interface RequestOptions extends CallOptions {
  readonly method?: Method;
  readonly body?: unknown;
  readonly accept?: string;
  /** Whether the answer may be a second old. A node then makes it from what it read for other requests. Default false. */
  readonly takesRecent?: boolean;
  /** Status of an answer that is not a refusal, if its body is plain JSON. Refusals are problem+json. */
  readonly otherStatus?: number | undefined;
}

/** Returns the response of a successful call. @throws ApiError */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const response = await send(path, options);
  if (response.ok || isOther(response, options)) return response;
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
    ...(options.takesRecent && { 'Cache-Control': 'max-age=1' }),
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
