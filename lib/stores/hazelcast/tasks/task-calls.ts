import { readFailure, writeFailure } from '../failures.js';
import type { Session } from '../session.js';

interface Sessions {
  /** @throws StoreUnavailableError if there is no session */
  forReading(): Session | Promise<Session>;
  /** @throws StoreUnavailableError if there is no session, NoQuorumError if it sees too few members */
  forWriting(): Session | Promise<Session>;
}

/** Calls for tasks: each uses the current session, and maps the client's errors. */
export class TaskCalls {
  /** Problem of the last call, if it failed. */
  problem: string | undefined;

  constructor(private readonly sessions: Sessions) {}

  async reading<T>(call: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.sessions.forReading();
    try {
      return this.#answered(await call(session));
    } catch (cause) {
      throw this.#failed(readFailure(cause));
    }
  }

  async writing<T>(call: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.sessions.forWriting();
    try {
      return this.#answered(await call(session));
    } catch (cause) {
      throw this.#failed(writeFailure(cause));
    }
  }

  #answered<T>(answer: T): T {
    this.problem = undefined;
    return answer;
  }

  #failed(error: Error): Error {
    this.problem = error.message;
    return error;
  }
}

/**
 * Opens something once per session, on its first use. If that fails, the next use tries again. Nothing was written then,
 * so the error is that of a read.
 */
export function oncePerSession<T>(open: (session: Session) => Promise<T>): (session: Session) => Promise<T> {
  const opened = new WeakMap<Session, Promise<T>>();
  return (session) => {
    const known = opened.get(session);
    if (known) return known;
    const opening = open(session).catch((cause: unknown) => {
      opened.delete(session);
      throw readFailure(cause);
    });
    opened.set(session, opening);
    return opening;
  };
}
