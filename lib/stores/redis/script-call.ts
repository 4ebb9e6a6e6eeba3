import type { Arg, RedisClient } from './clients/redis-client.js';
import { replyCodeOf } from './failures.js';
import type { Script } from './scripts.js';

interface Call {
  readonly keys: readonly [string, ...string[]];
  readonly args: readonly string[];
}

/**
 * Runs a script by its name, and sends its text when the server does not know it. Scripts are forgotten when a server
 * restarts, and after a failover.
 */
export function runScript(client: RedisClient, script: Script, { keys, args }: Call): Promise<unknown> {
  const send = (command: string, name: string): Promise<unknown> =>
    client.command(keys[0], [command, name, String(keys.length), ...keys, ...args]);
  return send('evalsha', script.sha).catch((error: unknown) => {
    if (replyCodeOf(error) !== 'NOSCRIPT') throw error;
    return send('eval', script.text);
  });
}

/** The same for a script without keys, on one server. */
export async function runAt(
  server: { command(args: readonly Arg[]): Promise<unknown> },
  script: Script,
): Promise<unknown> {
  try {
    return await server.command(['evalsha', script.sha, '0']);
  } catch (error) {
    if (replyCodeOf(error) !== 'NOSCRIPT') throw error;
    return server.command(['eval', script.text, '0']);
  }
}
