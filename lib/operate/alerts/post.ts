/** A request to a receiver. */
interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** ms */
  readonly timeout: number;
  /** Ends the request early. */
  readonly signal: AbortSignal;
}

/** The receiver's answer, or why there is none. */
export interface Answer {
  /** HTTP status; absent without an answer. */
  readonly status?: number;
  /** Why the request failed, for people; absent if it was accepted. Never contains the address. */
  readonly problem?: string;
  /** ms that the receiver asks to wait before the next request. */
  readonly retryAfter?: number;
}

/** Sends a request. Never rejects. */
export type Post = (request: PostRequest) => Promise<Answer>;

/** Follows no redirects: an open redirect of the receiver's host would pass the alerts on. Reads no body. */
export const postByFetch: Post = async ({ url, headers, body, timeout, signal }) => {
  const deadline = AbortSignal.timeout(timeout);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.any([deadline, signal]),
    });
    // The body may be endless, and its end is not awaited.
    void response.body?.cancel().catch(() => undefined);
    return answerOf(response);
  } catch (error) {
    if (deadline.aborted) return { problem: `no answer within ${timeout} ms` };
    return { problem: signal.aborted ? 'this node shuts down' : `no connection (${codeOf(error)})` };
  }
};

function answerOf({ status, ok, headers }: Response): Answer {
  if (ok) return { status };
  const problem = status < 400 ? `answered ${status}: redirects are not followed` : `answered ${status}`;
  const seconds = Number(headers.get('retry-after') ?? NaN);
  return { status, problem, ...(seconds > 0 && { retryAfter: seconds * 1000 }) };
}

/** Whether a repetition would fail in the same way: the receiver refuses the request, or is elsewhere. */
export function isFinal({ status }: Answer): boolean {
  return status !== undefined && status < 500 && status !== 408 && status !== 429;
}

/** The code of the connection's error. Its message may contain the address. */
function codeOf(error: unknown): string {
  const { cause = error } = error as { readonly cause?: unknown };
  const { code, name } = cause as { readonly code?: unknown; readonly name?: unknown };
  return String(code ?? name);
}
