import { Deadline } from '../../core/async/deadline.js';
import { pauseAfter } from '../../core/async/backoff.js';
import type { Timers } from '../../core/async/timers.js';
import { atMost } from '../../core/store/at-most.js';
import type { Connection } from './connection.js';
import { type Failed, RowHeldError, isConflict, isSuspicious, readFailure, writeFailure } from './failures.js';
import type { Row, Server, Statement } from './server.js';

/** Attempts of one statement that conflicts with other transactions. */
const MOST_ATTEMPTS = 6;
const CONFLICT = { first: 2, longest: 50, jitter: 1 };

interface Circumstances {
  readonly server: Server;
  readonly connection: Connection;
  /** The server in words, without secrets. */
  readonly where: string;
  readonly timers: Timers;
  /** ms */
  readonly timeout: number;
}

/** Runs the statements of calls: each within the time that a call may take, and with the errors of the SPI. */
export class Calls {
  /** Problem of the last call, if it failed. */
  problem: string | undefined;

  constructor(private readonly on: Circumstances) {}

  /** @throws StoreUnavailableError if the server can't serve now */
  assertOpen(): void {
    this.on.connection.assertOpen();
  }

  /**
   * Runs a statement that changes nothing. Right after the start, it waits for the first attempt to connect.
   *
   * @throws StoreUnavailableError
   */
  async reading(statement: Statement, values: unknown[]): Promise<Row[]> {
    await this.#connecting();
    return this.#run(statement, values, readFailure);
  }

  /**
   * Runs a statement that writes. @throws StoreUnavailableError if surely nothing was written, else UnknownOutcomeError
   */
  async writing(statement: Statement, values: unknown[]): Promise<Row[]> {
    this.on.connection.assertOpen();
    return this.#run(statement, values, writeFailure);
  }

  /** As {@link writing}, but also waits for the first attempt to connect: tasks may be written before they are read. */
  async writingSoon(statement: Statement, values: unknown[]): Promise<Row[]> {
    await this.#connecting();
    return this.#run(statement, values, writeFailure);
  }

  /** Runs a statement that changes nothing, without any wait: the wait would count as the age of a clock reading. */
  async readingAtOnce(statement: Statement, values: unknown[]): Promise<Row[]> {
    this.on.connection.assertOpen();
    return this.#run(statement, values, readFailure);
  }

  async #connecting(): Promise<void> {
    const { connection, timeout } = this.on;
    if (connection.isFirstAttempt) await atMost(timeout, connection.attempted);
    connection.assertOpen();
  }

  async #run(statement: Statement, values: unknown[], failure: typeof readFailure): Promise<Row[]> {
    const { connection, timers, timeout, where } = this.on;
    const deadline = new Deadline(timers, timeout);
    for (let attempt = 1; ; attempt++) {
      try {
        const rows = await this.on.server.run(statement, values, deadline);
        this.problem = undefined;
        connection.answered();
        return rows;
      } catch (error) {
        const failed = error as Failed;
        if (isSuspicious(failed)) connection.suspect();
        if (!isConflict(failed) || attempt === MOST_ATTEMPTS) throw this.#failed(failure(where, failed));
        await deadline.pause(pauseAfter(attempt, Math.random(), CONFLICT));
      }
    }
  }

  #failed<E extends Error>(error: E): E {
    // A row that the application holds is no problem of the server.
    if (!(error instanceof RowHeldError)) this.problem = error.message;
    return error;
  }
}
