import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { threadId } from 'node:worker_threads';
import { HazelcastLauncherError } from './launcher.error.js';
import { ADDRESS_NOT_LOCAL, NO_FREE_PORT } from './launcher.messages.js';

/**
 * The ports are below the range that the system uses for outgoing connections. In that range, another connection could
 * take the port of a killed member before the member starts again.
 */
const FIRST = 15_000;
const END = 32_000;
const ATTEMPTS = 100;
/**
 * Ports that one thread of a process chooses from. A member listens seconds after its port was chosen, and not while it is
 * killed: two workers of a test runner with one range, threads or processes, might choose the same port meanwhile.
 */
const BLOCK = 100;
const BLOCKS = (END - FIRST) / BLOCK;
/**
 * Threads of a process that surely have other blocks than those of the process with the next id. It shares no factor with the
 * number of blocks, so that processes share one as rarely as possible.
 */
const THREADS = 19;

/** Ports that were chosen in this thread, since a server may not listen yet. */
const chosen = new Set<number>();

/** Finds a port of `address` without a listener that is not in `taken`. */
export async function freePort(address: string, taken: ReadonlySet<number>): Promise<number> {
  const block = FIRST + BLOCK * ((THREADS * process.pid + threadId) % BLOCKS);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // Other programs may have the ports of the block, or this thread all of them.
    const port = attempt < ATTEMPTS / 2 ? block + randomInt(BLOCK) : randomInt(FIRST, END);
    if (taken.has(port) || chosen.has(port)) continue;
    chosen.add(port);
    if (await isFree(address, port)) return port;
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
