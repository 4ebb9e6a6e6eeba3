import { z } from 'zod';
import { GatekeeperError } from '../../decision/gatekeeper.error.js';
import { NoQuorumError, StoreUnavailableError, UnknownOutcomeError } from '../store.errors.js';

/** The other application answered and refuses this one because of its token, path or version. */
export class RemoteRefusedError extends StoreUnavailableError {
  override readonly code = 'remote-refused';
}

const problemSchema = z.object({ code: z.string(), detail: z.string().optional() });

/** Codes that show for sure how a call ended, from the application or from the store behind it. */
const SURE: ReadonlyMap<string, new (message: string) => GatekeeperError> = new Map([
  ['unavailable', StoreUnavailableError],
  ['closing', StoreUnavailableError],
  ['too-many-streams', StoreUnavailableError],
  ['too-many-attempts', StoreUnavailableError],
  ['no-quorum', NoQuorumError],
  ['unknown-outcome', UnknownOutcomeError],
]);

/** Statuses by which any server, proxies included, says that it did not accept the request. 408 is not among them. */
const REFUSED = new Set([400, 401, 403, 404, 405, 406, 411, 413, 414, 415, 421, 426, 429, 431]);

const ADVICE: Record<number, string> = {
  401: 'give remote() a token that stands in console.tokens there',
  403: 'the token there needs the role node, and the console must not be readOnly',
  404: 'url must name the path of its console, as in "https://host/gatekeeper"',
  413: 'something on the way takes no bodies of 2 MB',
};

/**
 * Maps an answer other than 200 to an error. Only a problem that the other application names, or a refusal of the
 * request itself, is sure; any other may come from a proxy on the way, after the request went through.
 */
export function failureOf(url: string, status: number, type: string | undefined, body: string): GatekeeperError {
  const problem = type?.startsWith('application/problem+json') ? problemIn(body) : undefined;
  const Sure = problem && SURE.get(problem.code);
  if (Sure) return new Sure(`${url}: ${problem.detail ?? problem.code}`);
  const said = `${url} answered ${status}${problem?.detail ? ` (${problem.detail})` : ''}`;
  // Never followed: the token is only for this address.
  if (status < 400) return new RemoteRefusedError(`${said}: give the address itself that it redirects to`);
  const advice = ADVICE[status] ?? 'is it this package, at the same version?';
  if (REFUSED.has(status)) return new RemoteRefusedError(`${said}: ${advice}`);
  return new UnknownOutcomeError(`${said}: it may or may not have been done`);
}

function problemIn(body: string): z.output<typeof problemSchema> | undefined {
  try {
    return problemSchema.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}

/** Maps a request that ended without a readable answer to an error. */
export function unansweredBy(url: string, cause: unknown, hasLeft: boolean): GatekeeperError {
  if (cause instanceof GatekeeperError) return cause;
  const said = `${url} did not answer (${reasonOf(cause)})`;
  if (!hasLeft) return new StoreUnavailableError(said, { cause });
  return new UnknownOutcomeError(`${said}: it may or may not have been done`, { cause });
}

function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  return message || (code ?? String(cause));
}
