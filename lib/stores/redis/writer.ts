import type { RedisClient } from './clients/redis-client.js';
import { unknownOutcome } from './failures.js';
import { type Script, runScript } from './scripts.js';

const BROKEN = 'the connection broke before replicas confirmed the write';

/**
 * Sends scripts that change data. With `replicas` it then waits until so many replicas have the write. WAIT speaks of the
 * writes of its own connection, and holds up everything behind it. So such a writer has a connection of its own, while one without
 * replicas uses the client of the session. If the connection breaks between the two, WAIT would be sent on a new one, which has
 * written nothing, and would succeed at once: so the answer does not count then.
 */
export class Writer {
  constructor(
    private readonly connection: RedisClient,
    private readonly replicas: number,
  ) {}

  /** Number of times that the connection broke. */
  get losses(): number {
    return this.connection.losses;
  }

  /** @param left ms that the call may still take */
  run(script: Script, keys: readonly string[], args: readonly string[], left: number): Promise<unknown> {
    const { losses } = this;
    const answer = runScript(this.connection, script, keys, args);
    return this.replicas === 0 ? answer : this.#confirmed(answer, losses, left);
  }

  async #confirmed(answer: Promise<unknown>, losses: number, left: number): Promise<unknown> {
    const { connection, replicas } = this;
    const answered = await answer;
    const confirmed = await this.#confirmations(left);
    if (connection.losses !== losses) throw unknownOutcome(BROKEN);
    if (confirmed >= replicas) return answered;
    throw unknownOutcome(`${confirmed} of ${replicas} replicas confirmed the write in time`);
  }

  /** Number of replicas that have all writes of this connection. A quarter of the time is kept for the way. */
  async #confirmations(left: number): Promise<number> {
    const patience = Math.max(1, Math.floor(left * 0.75));
    try {
      return Number(await this.connection.command('', ['wait', String(this.replicas), String(patience)]));
    } catch (error) {
      throw unknownOutcome(BROKEN, error);
    }
  }
}
