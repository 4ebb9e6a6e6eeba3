import { Deadline } from '../../core/async/deadline.js';
import { pauseAfter } from '../../core/async/backoff.js';
import type { Timers } from '../../core/async/timers.js';
import { LastProblem } from '../../core/store/call-health.js';
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

/**
 * Runs the statements of calls: each within the time that a call may take, and with the errors of the SPI. Right after the start, a
 * statement waits for the first attempt to connect. A call that must not wait begins with {@link assertOpen}.
 */
export class Calls {
  readonly problem = new LastProblem();

  constructor(private readonly on: Circumstances) {}

  /** ms that a call may take. */
  get timeout(): number {
    return this.on.timeout;
  }

  /** The end of a call that begins now. @param share of the time that a call may take */
  deadline(share = 1): Deadline {
    return new Deadline(this.on.timers, Math.round(this.on.timeout * share));
  }

  /** @throws StoreUnavailableError if the server can't serve now */
  assertOpen(): void {
    this.on.connection.assertOpen();
  }

  /** Runs a statement that changes nothing. @throws StoreUnavailableError */
  read(statement: Statement, values: unknown[]): Promise<Row[]> {
    return this.#run(statement, values, readFailure);
  }

  /** Runs a statement that writes. @throws StoreUnavailableError if surely nothing was written, else UnknownOutcomeError */
  write(statement: Statement, values: unknown[]): Promise<Row[]> {
    return this.#run(statement, values, writeFailure);
  }

  /** Runs a statement that belongs to no call, also before calls may be made. @throws Failed */
  runAnyway(statement: Statement, values: unknown[]): Promise<Row[]> {
    return this.on.server.run(statement, values, this.deadline());
  }

  async #run(statement: Statement, values: unknown[], failure: typeof readFailure): Promise<Row[]> {
    const { connection, where } = this.on;
    if (!connection.firstAttempt.isOver) await connection.firstAttempt.wait(this.timeout);
    connection.assertOpen();
    const deadline = this.deadline();
    for (let attempt = 1; ; attempt++) {
      try {
        const rows = await this.on.server.run(statement, values, deadline);
        connection.answered();
        return this.problem.answered(rows);
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
    return error instanceof RowHeldError ? error : this.problem.failed(error);
  }
}
