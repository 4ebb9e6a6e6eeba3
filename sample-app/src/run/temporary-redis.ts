import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TemporaryServer, findProgram, freePort } from './temporary-server.js';

const MISSING =
  'Redis is missing (no redis-server or valkey-server in PATH): install it ("apt-get install redis-server"), ' +
  'or name a server that runs: REDIS_URL=redis://localhost:6379';

/** Starts a Redis or Valkey on loopback, with a password of its own. @throws with advice, if none is installed */
export async function startRedis() {
  const file = findProgram(['redis-server', 'valkey-server']);
  if (file === undefined) throw new Error(MISSING);
  const [port, password] = [await freePort(), randomBytes(12).toString('hex')];
  const server = await TemporaryServer.start({}, async (folder) => {
    const settings = join(folder, 'redis.conf');
    // In a file: other users see the arguments of a process.
    const lines = ['bind 127.0.0.1', `port ${port}`, `requirepass ${password}`, 'appendonly yes', 'save ""'];
    await writeFile(settings, lines.join('\n'), { mode: 0o600 });
    return { file, args: [settings], readyLine: 'Ready to accept connections', stopSignal: 'SIGTERM' };
  });
  return { server, url: `redis://:${password}@127.0.0.1:${port}` };
}
