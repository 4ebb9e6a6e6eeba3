import { z } from 'zod';
import { GatekeeperError } from '../../core/decision/gatekeeper.error.js';
import { NoQuorumError, StoreUnavailableError, UnknownOutcomeError } from '../../core/store/store.errors.js';

/** The other application answered, and refuses the call because of the token, the path or the version. */
export class RemoteRefusedError extends StoreUnavailableError {
  static override readonly className = 'RemoteRefusedError';
  override readonly code = 'remote-refused';

  constructor(
    message: string,
    /** Whether only this call is refused, for example because it is too large. Others may succeed. */
    readonly isOfOneCall = false,
  ) {
    super(message);
  }
}

const problemSchema = z.object({ code: z.string(), detail: z.string().optional() });

/** Makes the errors of codes that prove how a call ended. The application or the store behind it sends them. */
const SURE: ReadonlyMap<string, (message: string) => GatekeeperError> = new Map([
  ['unavailable', unavailable],
  ['closing', unavailable],
  ['too-many-streams', unavailable],
  ['too-many-attempts', unavailable],
  ['too-many-waits', refusedByItself],
  ['invalid-options', refusedByItself],
  ['no-quorum', (message) => new NoQuorumError(message)],
  ['unknown-outcome', (message) => new UnknownOutcomeError(message)],
]);

function unavailable(message: string): StoreUnavailableError {
  return new StoreUnavailableError(message);
}

function refusedByItself(message: string): RemoteRefusedError {
  return new RemoteRefusedError(message, true);
}

/** Statuses that mean that a server or proxy did not accept the request. 408 does not prove that. */
const REFUSED = new Set([400, 401, 403, 404, 405, 406, 411, 413, 414, 415, 421, 426, 429, 431]);

/** Of these, statuses that are only about the request's body. */
const OF_ONE_CALL = new Set([400, 413]);

const ADVICE: Record<number, string> = {
  401: 'give remote() a token of the option console.tokens of that application',
  403: 'the token there needs the role node, and the console must not be readOnly',
  404: 'url must name the path of its console, as in "https://host/gatekeeper"',
  413: 'a server or proxy on the way must accept request bodies of 5 MB',
};

/**
 * Maps an answer other than 200 to an error. Only a known problem code or a refusal of the request proves the outcome.
 * Any other answer may come from a proxy after the request was forwarded.
 */
export function failureOf(url: string, status: number, type: string | undefined, body: string): GatekeeperError {
  const problem = type?.startsWith('application/problem+json') ? problemIn(body) : undefined;
  const sure = problem && SURE.get(problem.code);
  if (sure) return sure(`${url}: ${problem.detail ?? problem.code}`);
  const said = `${url} answered ${status}${problem?.detail ? ` (${problem.detail})` : ''}`;
  // Redirects are never followed, because the token is only for this address.
  if (status < 400) return new RemoteRefusedError(`${said}: give the address itself that it redirects to`);
  const advice = ADVICE[status] ?? 'is it this package, at the same version?';
  if (REFUSED.has(status)) return new RemoteRefusedError(`${said}: ${advice}`, OF_ONE_CALL.has(status));
  return new UnknownOutcomeError(`${said}: it may or may not have been done`);
}

function problemIn(body: string): z.output<typeof problemSchema> | undefined {
  try {
    return problemSchema.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}

/**
 * Maps an answer that is none of the protocol to an error. An application that wraps its answers has done a write.
 *
 * @param got what came
 */
export function misunderstood(url: string, got: string, writes: boolean): GatekeeperError {
  const said = `${url} answered 200 with ${got}, so it is no console, or what it answers is changed on the way`;
  const advice = 'let url name the path of its console, and look for a proxy or a middleware that changes answers';
  if (writes) return new UnknownOutcomeError(`${said}: it may or may not have been done. ${advice}`);
  return new RemoteRefusedError(`${said}: ${advice}`);
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
