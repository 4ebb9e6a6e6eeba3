import { once } from 'node:events';
import { createServer } from 'node:net';

/** The ports of the nodes, by the environment: SAMPLE_PORTS=8090,8091,8092. */
export function readPorts({ SAMPLE_PORTS = '8090,8091,8092' } = process.env): number[] {
  return SAMPLE_PORTS.split(',').map(Number);
}

/**
 * Looks before anything is started: three stack traces amid the logs of the others would hide the cause.
 *
 * @throws when one of them can't be listened on
 */
export async function assertFree(ports: readonly number[]): Promise<void> {
  for (const port of ports) await tryToListen(port);
}

async function tryToListen(port: number): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (cause) {
    throw new Error(
      `Port ${port} can't be used (${(cause as Error).message}). End what listens there, or choose other ports: ` +
        'SAMPLE_PORTS=9090,9091,9092 npm run sample',
      { cause },
    );
  }
  server.close();
  await once(server, 'close');
}
