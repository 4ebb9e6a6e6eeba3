import type { RedisClient } from './clients/redis-client.js';
import type { Writer } from './calls.js';
import { unknownOutcome } from './failures.js';
import { runScript } from './script-call.js';
import type { Script } from './scripts.js';

/** Writes with the client itself. */
export class PlainWriter implements Writer {
  constructor(private readonly client: RedisClient) {}

  get losses(): number {
    return this.client.losses;
  }

  run(script: Script, keys: readonly [string, ...string[]], args: readonly string[]): Promise<unknown> {
    return runScript(this.client, script, { keys, args });
  }
}

const BROKEN = 'the connection broke before replicas confirmed the write';

/**
 * Writes, and then waits until so many replicas have the write. WAIT speaks of the writes of its own connection, and
 * holds up everything behind it. So this writer has a connection of its own. If that breaks between the two, WAIT would
 * be sent on a new one, which has written nothing, and would succeed at once: so the answer does not count then.
 */
export class ReplicatedWriter implements Writer {
  constructor(
    private readonly connection: RedisClient,
    private readonly replicas: number,
  ) {}

  get losses(): number {
    return this.connection.losses;
  }

  async run(
    script: Script,
    keys: readonly [string, ...string[]],
    args: readonly string[],
    left: number,
  ): Promise<unknown> {
    const { connection, replicas } = this;
    const { losses } = connection;
    const answer = await runScript(connection, script, { keys, args });
    const confirmed = await this.#confirmed(left);
    if (connection.losses !== losses) throw unknownOutcome(BROKEN);
    if (confirmed >= replicas) return answer;
    throw unknownOutcome(`${confirmed} of ${replicas} replicas confirmed the write in time`);
  }

  /** Number of replicas that have all writes of this connection. A quarter of the time is kept for the way. */
  async #confirmed(left: number): Promise<number> {
    const patience = Math.max(1, Math.floor(left * 0.75));
    try {
      return Number(await this.connection.command('', ['wait', String(this.replicas), String(patience)]));
    } catch (error) {
      throw unknownOutcome(BROKEN, error);
    }
  }
}
