import { LastProblem } from '../../core/store/call-health.js';
import { NoQuorumError, StoreUnavailableError } from '../../core/store/store.errors.js';
import type { Connection } from './connection.js';
import { readFailure, writeFailure } from './failures.js';
import { placeOf, type ResolvedOptions } from './hazelcast.options.js';
import { dataMembers, type Session } from './session.js';
import { CpMissingError } from './texts/cp-records.js';

/** Finds what a call uses of the session, such as a map or a queue. */
export type PartOf<Part> = (session: Session) => Part | Promise<Part>;

interface WriteDetails<T> {
  /** Whether the write follows a read, so that it need not wait for the first attempt to connect. */
  readonly followsRead?: boolean;
  /** Whether no decision depends on the write, so that it needs no quorum. */
  readonly isForPeople?: boolean;
  /** Hears of the answer in the step that receives it, because a further promise per write costs throughput. */
  readonly onAnswer?: (answer: T) => void;
}

/**
 * Calls to the members for one kind of data. Each call uses the current session, and maps the client's errors. A write needs
 * the quorum. Calls right after the start wait for the first attempt to connect.
 */
export class Calls {
  readonly problem = new LastProblem();

  constructor(
    private readonly connection: Omit<Connection<Session>, 'close'>,
    private readonly options: ResolvedOptions,
    /** Longest wait for the first attempt to connect, in ms. */
    private readonly callTimeout: number,
  ) {}

  /**
   * Makes a call that changes nothing.
   *
   * @throws StoreUnavailableError if there is no session, or the call failed
   */
  async reading<Part, T>(partOf: PartOf<Part>, call: (part: Part) => Promise<T>): Promise<T> {
    const { firstAttempt } = this.connection;
    if (!firstAttempt.isOver) await firstAttempt.wait(this.callTimeout);
    const session = this.connected();
    try {
      return this.problem.answered(await call(await partOf(session)));
    } catch (cause) {
      throw this.problem.failed(readFailure(cause));
    }
  }

  /**
   * Makes a call that may change something.
   *
   * @throws StoreUnavailableError if there is no session, NoQuorumError if it sees too few members
   * @throws UnknownOutcomeError if the call failed, and perhaps changed something
   */
  async writing<Part, T>(
    partOf: PartOf<Part>,
    call: (part: Part) => Promise<T>,
    { followsRead = false, isForPeople = false, onAnswer }: WriteDetails<T> = {},
  ): Promise<T> {
    const { firstAttempt } = this.connection;
    if (!firstAttempt.isOver && !followsRead) await firstAttempt.wait(this.callTimeout);
    const session = isForPeople ? this.connected() : this.#quorate();
    try {
      const part = partOf(session);
      // Without an await where there is nothing to wait for: most parts are opened already.
      const answer = this.problem.answered(await call(part instanceof Promise ? await part : part));
      onAnswer?.(answer);
      return answer;
    } catch (cause) {
      throw this.problem.failed(writeFailure(cause));
    }
  }

  /** The current session. Never waits for one. @throws StoreUnavailableError if there is none */
  connected(): Session {
    const { session } = this.connection;
    if (!session) throw this.unavailable();
    return session;
  }

  /** The reason why there is no session. */
  unavailable(): StoreUnavailableError {
    const { failure, isClosed, problem } = this.connection;
    if (isClosed) return new StoreUnavailableError('The Hazelcast store is closed: open another one');
    if (failure instanceof CpMissingError) return failure;
    return new StoreUnavailableError(`Not connected to ${placeOf(this.options)}: ${problem}`);
  }

  #quorate(): Session {
    const { quorum } = this.options;
    const { isClosed, session } = this.connection;
    const members = quorum > 0 && session ? dataMembers(session) : 0;
    if (members < quorum && !isClosed) throw this.#withoutQuorum(members);
    return this.connected();
  }

  #withoutQuorum(members: number): NoQuorumError {
    const { quorum } = this.options;
    return new NoQuorumError(
      `${members} of at least ${quorum} members of ${placeOf(this.options)} are there: start more members, or lower quorum`,
    );
  }
}

/**
 * Opens something once per session, on its first use. If that fails, the next use tries again. Nothing was written then,
 * so the error is that of a read. Once it is open, it is returned without a promise.
 */
export function oncePerSession<Part extends object>(open: (session: Session) => Promise<Part>): PartOf<Part> {
  const opened = new WeakMap<Session, Part | Promise<Part>>();
  return (session) => {
    const known = opened.get(session);
    if (known !== undefined) return known;
    const opening = open(session).then(
      (part) => {
        opened.set(session, part);
        return part;
      },
      (cause: unknown) => {
        opened.delete(session);
        throw readFailure(cause);
      },
    );
    opened.set(session, opening);
    return opening;
  };
}
