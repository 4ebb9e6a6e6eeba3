import { Deadline, type DeadlinePassed } from '../../core/async/deadline.js';
import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';
import { Timers } from '../../core/async/timers.js';
import { LastProblem } from '../../core/store/call-health.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import type { Arg, RedisClient } from './clients/redis-client.js';
import type { Connection, Session } from './connection.js';
import { isDemotion, readFailure, replyCodeOf, unknownOutcome, writeFailure } from './failures.js';
import { type Script, runScript } from './scripts.js';

/** For writes that share a call. One connection carries any number of calls, and a script must not block the server for long. */
export const SHARED = { calls: Infinity, writes: 32, parts: 2 };

/** ms between tries while a slot moves to another server of a Cluster. */
const TRY_AGAIN = 20;

/** Makes the error of a call that got no answer in time. */
type Late = (passed: DeadlinePassed) => Error;

/** Runs a call that changes nothing, with a deadline. @throws the client's error, or StoreUnavailableError */
export type Within = <T>(call: () => Promise<T>) => Promise<T>;

/** Commands with a deadline each. The clients' own retries may take longer. */
export class Calls {
  readonly problem = new LastProblem();
  readonly #timers = new Timers(systemClock);

  /** @param timeout ms */
  constructor(
    private readonly connection: Connection,
    readonly timeout: number,
  ) {}

  /** Whether the keys of a script may be in any slots. False while there is no session. */
  get mayMixSlots(): boolean {
    return this.connection.session?.client.isCluster === false;
  }

  /** Runs a command that reads. @param key the first key of the command */
  read(key: string, args: readonly Arg[]): Promise<unknown> {
    return this.reading((client) => client.command(key, args));
  }

  /** Runs a script that reads. */
  readBy(script: Script, keys: readonly [string, ...string[]], args: readonly string[]): Promise<unknown> {
    return this.reading((client) => runScript(client, script, keys, args));
  }

  /** @throws StoreUnavailableError */
  async reading<T>(call: (client: RedisClient) => Promise<T>): Promise<T> {
    const session = await this.connection.connecting(this.timeout);
    const { client, ended } = session;
    try {
      const answer = await this.#limited(() => call(client), client.isCluster, this.#tooLate);
      ended.throwIfAborted(); // it may come from a server that is not examined yet
      return this.problem.answered(answer);
    } catch (error) {
      throw this.#refused(session, error, readFailure(error));
    }
  }

  readonly within: Within = (call) => this.#limited(call, false, this.#tooLate);

  /**
   * Runs a script that writes.
   *
   * @throws StoreUnavailableError, NoQuorumError if surely nothing was written
   * @throws UnknownOutcomeError otherwise
   */
  write(script: Script, keys: readonly [string, ...string[]], args: readonly string[]): Promise<unknown> {
    return this.#write(script, keys, args, (answer) => answer);
  }

  /** The same for a script that answers each write by itself. @returns an error, as above, for each that was refused */
  writeEach(script: Script, keys: readonly [string, ...string[]], args: readonly string[]): Promise<unknown[]> {
    return this.#write(script, keys, args, (answers, failed) =>
      (answers as unknown[]).map((answer) => (answer instanceof Error ? failed(answer) : answer)),
    );
  }

  async #write<T>(
    script: Script,
    keys: readonly [string, ...string[]],
    args: readonly string[],
    read: (answer: unknown, failed: (error: unknown) => Error) => T,
  ): Promise<T> {
    const session = this.connection.connected();
    const { writer, client } = session;
    const { losses } = writer;
    const failed = (error: unknown) => this.#refused(session, error, writeFailure(error, writer.losses === losses));
    const run = ({ remaining }: Deadline) => writer.run(script, keys, args, remaining);
    const late: Late = (passed) => unknownOutcome(`no answer within ${this.timeout} ms`, passed);
    try {
      const answer = await this.#limited(run, client.isCluster, late);
      return read(this.problem.answered(answer), failed);
    } catch (error) {
      throw failed(error);
    }
  }

  #limited<T>(call: (deadline: Deadline) => Promise<T>, isCluster: boolean, late: Late): Promise<T> {
    const deadline = new Deadline(this.#timers, this.timeout);
    return deadline.race(isCluster ? whileSlotMoves(deadline, () => call(deadline)) : call(deadline), late);
  }

  /** Ends all waits for answers. */
  close(): void {
    this.#timers.close();
  }

  /** A demotion breaks no connection, so nothing else tells it. A client of a Cluster is sent to the primary. */
  #refused(session: Session, error: unknown, failure: Error): Error {
    if (isDemotion(error) && !session.client.isCluster) this.connection.suspect(session, failure.message);
    return this.problem.failed(failure);
  }

  readonly #tooLate: Late = (cause) =>
    new StoreUnavailableError(`Redis did not answer within ${this.timeout} ms: try again`, { cause });
}

/** The text in an answer; undefined if there is none. */
export function textIn(answer: unknown): string | undefined {
  return answer === null ? undefined : String(answer);
}

/**
 * Refusals of a Cluster while the keys of a call are just moving to another server. Nothing was changed then. Clients
 * follow ASK and MOVED by themselves, but only so often, and many calls at the same time disturb each other: node-redis 4
 * sends ASKING apart from its command.
 */
const MOVING: ReadonlySet<string | undefined> = new Set(['TRYAGAIN', 'ASK', 'MOVED']);

/** Repeats a call that a server refused because its keys are just moving. */
async function whileSlotMoves<T>(deadline: Deadline, call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!MOVING.has(replyCodeOf(error)) || deadline.remaining <= TRY_AGAIN) throw error;
      await pause(systemClock, TRY_AGAIN);
    }
  }
}
