import { once } from 'node:events';
import { createServer } from 'node:net';

export interface Ports {
  readonly apps: readonly number[];
  readonly archive: number;
}

/** The ports in use, by the environment: SAMPLE_PORTS=8090,8091,8092 and SAMPLE_ARCHIVE_PORT=8099. */
export function readPorts({ SAMPLE_PORTS = '8090,8091,8092', SAMPLE_ARCHIVE_PORT = '8099' } = process.env): Ports {
  return { apps: SAMPLE_PORTS.split(',').map(Number), archive: Number(SAMPLE_ARCHIVE_PORT) };
}

/**
 * Looks before anything is started: three stack traces amid the logs of the others would hide the cause.
 *
 * @throws when one of them can't be listened on
 */
export async function assertFree({ apps, archive }: Ports): Promise<void> {
  for (const port of [...apps, archive]) await tryToListen(port);
}

async function tryToListen(port: number): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (cause) {
    throw new Error(
      `Port ${port} can't be used (${(cause as Error).message}). End what listens there, or choose other ports: ` +
        'SAMPLE_PORTS=9090,9091,9092 SAMPLE_ARCHIVE_PORT=9099 npm run sample',
      { cause },
    );
  }
  server.close();
  await once(server, 'close');
}
