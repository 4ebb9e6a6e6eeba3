import { GatekeeperError } from '../../core/decision/gatekeeper.error.js';
import { NoQuorumError, StoreUnavailableError, UnknownOutcomeError } from '../../core/store/store.errors.js';

/** Advice by the code of an error reply. */
const ADVICE: Readonly<Record<string, string>> = {
  READONLY: 'the server is a replica: connect to the primary, or wait until the failover is over',
  LOADING: 'the server reads its data from disk: wait',
  BUSY: 'a script of another program blocks the server: wait, or end it with SCRIPT KILL',
  OOM: "the server's memory is full: raise maxmemory",
  MISCONF: "the server can't save its data: look into its log",
  NOAUTH: 'give the client a password',
  WRONGPASS: 'check user and password',
  NOPERM: 'give the user the rights that docs/redis.md lists',
  MASTERDOWN: 'the server is a replica without its primary: wait until the failover is over',
  TRYAGAIN: 'the slot moves to another server: try again',
  MOVED: 'the server is part of a Cluster: use a client for a Cluster',
  ASK: 'the slot moves to another server: try again',
  WRONGTYPE: 'another program uses the same keys: choose another prefix',
};

/** Codes of replies by which a server refuses because too few servers are there. */
const WITHOUT_QUORUM: Readonly<Record<string, string>> = {
  NOREPLICAS: 'fewer replicas than min-replicas-to-write are connected: start more replicas',
  CLUSTERDOWN: 'the Cluster lacks primaries, or their majority: start them',
};

/**
 * The code of a server's error reply: "READONLY". Servers before 7.0 put the code of an error in a script into the
 * middle of the message, with or without an ERR before it. Undefined if the error is no reply of a server.
 */
export function replyCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { message } = error;
  const [, lastOfMany] = TOO_MANY_REDIRECTIONS.exec(message) ?? [];
  if (lastOfMany !== undefined || !isReply(error)) return lastOfMany;
  return /^(?:ERR .*|@user_script: \d+): -([A-Z]+) /.exec(message)?.[1] ?? /^([A-Z]+)\b/.exec(message)?.[1] ?? 'ERR';
}

const WRITE_REFUSALS: ReadonlySet<string | undefined> = new Set(['NOREPLICAS', 'OOM', 'MISCONF']);

/** Whether a server refuses all writes for now, and answers reads. */
export function isWriteRefusal(error: unknown): boolean {
  return WRITE_REFUSALS.has(replyCodeOf(error));
}

const DEMOTIONS: ReadonlySet<string | undefined> = new Set(['READONLY', 'MASTERDOWN']);

/** Whether a server says by its refusal that it is a replica. */
export function isDemotion(error: unknown): boolean {
  return DEMOTIONS.has(replyCodeOf(error));
}

/** ioredis was sent from server to server too often. */
const TOO_MANY_REDIRECTIONS = /^Too many Cluster redirections\. Last error: \w+: (ASK|MOVED|TRYAGAIN) /;

/** Names of the classes of ioredis, node-redis 4, and node-redis 5. Each application has its own copy of them. */
const REPLIES: ReadonlySet<string> = new Set(['ReplyError', 'ErrorReply', 'SimpleError', 'BlobError']);

/** Codes by which a reply is known in a bundle whose classes have short names. */
const CODES: ReadonlySet<string> = new Set(['ERR', 'NOSCRIPT', ...Object.keys(ADVICE), ...Object.keys(WITHOUT_QUORUM)]);

function isReply({ name, message, constructor }: Error): boolean {
  return REPLIES.has(name) || REPLIES.has(constructor.name) || CODES.has(/^([A-Z]+) /.exec(message)?.[1] ?? '');
}

/** Maps a failed read, listing or clock reading to an error. A read changes nothing, so the store was only unavailable. */
export function readFailure(cause: unknown): GatekeeperError {
  if (cause instanceof GatekeeperError) return cause;
  return refusal(cause) ?? new StoreUnavailableError(`Redis did not answer (${said(cause)}): try again`, { cause });
}

/**
 * Maps a failed write to an error. Only a server's error reply proves that nothing was written, and only if no connection
 * broke since the write was sent: the client may have sent it before, and the reply is to the second attempt.
 *
 * @param isFirstAttempt whether no connection broke since the write was sent
 */
export function writeFailure(cause: unknown, isFirstAttempt: boolean): GatekeeperError {
  if (cause instanceof GatekeeperError) return cause;
  const refused = isFirstAttempt ? (refusal(cause) ?? unsent(cause)) : undefined;
  return refused ?? unknownOutcome(said(cause), cause);
}

export function unknownOutcome(reason: string, cause?: unknown): UnknownOutcomeError {
  return new UnknownOutcomeError(`Redis may or may not have written (${reason}): read before you write again`, {
    cause,
  });
}

function refusal(cause: unknown): StoreUnavailableError | undefined {
  const code = replyCodeOf(cause);
  if (code === undefined) return undefined;
  const quorum = WITHOUT_QUORUM[code];
  if (quorum !== undefined) return new NoQuorumError(`Redis refuses (${said(cause)}): ${quorum}`, { cause });
  return new StoreUnavailableError(`Redis refuses (${said(cause)})${ADVICE[code] ? `: ${ADVICE[code]}` : ''}`, {
    cause,
  });
}

/** Errors by which the clients refuse a command before they send it. */
const UNSENT: ReadonlySet<string> = new Set([
  'The client is closed',
  'The client is offline',
  'The queue is full',
  "Stream isn't writeable and enableOfflineQueue options is false",
  "Cluster isn't ready and enableOfflineQueue options is false",
]);

function unsent(cause: unknown): StoreUnavailableError | undefined {
  if (!(cause instanceof Error) || !UNSENT.has(cause.message)) return undefined;
  return new StoreUnavailableError(`The Redis client did not send the write (${cause.message}): try again`, { cause });
}

const LOOK_AT_ADDRESS = 'check host and port, and that the server runs';

/** Advice by a code in the reason why a client has no connection. */
const CONNECTION_ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: LOOK_AT_ADDRESS,
  ENOTFOUND: LOOK_AT_ADDRESS,
  EAI_AGAIN: LOOK_AT_ADDRESS,
  EHOSTUNREACH: LOOK_AT_ADDRESS,
  ENETUNREACH: LOOK_AT_ADDRESS,
  ETIMEDOUT: `${LOOK_AT_ADDRESS}, and whether it uses TLS (rediss://)`,
  NOAUTH: ADVICE['NOAUTH']!,
  WRONGPASS: ADVICE['WRONGPASS']!,
};

/** Completes the reason why a client has no connection by advice, if there is none yet. */
export function connectionProblem(reason: string): string {
  const code = Object.keys(CONNECTION_ADVICE).find((each) => new RegExp(`\\b${each}\\b`).test(reason));
  const advice = code && CONNECTION_ADVICE[code]!;
  return advice && !reason.includes(advice) ? `${reason}; ${advice}` : reason;
}

/** First line only: the clients may add the command, and with it a text. */
function said(cause: unknown): string {
  return cause instanceof Error ? cause.message.split('\n', 1)[0]! || cause.constructor.name : String(cause);
}
