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
    // A quarter is kept for the way.
    const confirmed = await connection
      .command('', ['wait', String(replicas), String(Math.max(1, Math.floor(left * 0.75)))])
      .catch((error: unknown) => {
        throw unknownOutcome('the connection broke before replicas confirmed the write', error);
      });
    if (connection.losses !== losses) throw unknownOutcome('the connection broke before replicas confirmed the write');
    if (Number(confirmed) < replicas)
      throw unknownOutcome(`${Number(confirmed)} of ${replicas} replicas confirmed the write in time`);
    return answer;
  }
}
