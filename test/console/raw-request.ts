import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/** Everything that a server sent over a connection until it closed it. */
export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends lines as they are to a server on this machine: what no client library lets through.
 *
 * @param lines of the head; "Connection: close" is added, unless the request is HTTP/1.0
 */
export async function rawRequest(url: string, lines: readonly string[], body = ''): Promise<RawAnswer> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write([...lines, 'Connection: close', '', body].join('\r\n'));
  const answer = await text(socket);
  return { status: Number(/^HTTP\/1\.\d (\d{3})/.exec(answer)?.[1]), text: answer };
}
