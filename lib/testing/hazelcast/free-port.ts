import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { HazelcastLauncherError } from './launcher.error.js';
import { ADDRESS_NOT_LOCAL, NO_FREE_PORT } from './launcher.messages.js';

/**
 * The ports are below the range that the system uses for outgoing connections. In that range, another connection could
 * take the port of a killed member before the member starts again.
 */
const FIRST = 15_000;
const END = 32_000;
const ATTEMPTS = 100;

/** Finds a port of `address` without a listener that is not in `taken`. */
export async function freePort(address: string, taken: ReadonlySet<number>): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FIRST, END);
    if (!taken.has(port) && (await isFree(address, port))) return port;
  }
  throw new HazelcastLauncherError(NO_FREE_PORT(address));
}

function isFree(address: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES'
        ? resolve(false)
        : reject(new HazelcastLauncherError(ADDRESS_NOT_LOCAL(address, error.message), { cause: error })),
    );
    server.listen(port, address, () => server.close(() => resolve(true)));
  });
}
