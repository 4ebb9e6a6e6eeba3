import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer as the application gave it. */
interface Passed {
  readonly path: string;
  readonly status: number;
  readonly body: string;
}

/** Handles an answer; it has to end the response. */
type Meddle = (answer: Passed, response: ServerResponse) => void;

const passOn: Meddle = ({ status, body }, response) =>
  void response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body);

/** Cuts an answer in the middle of its body. */
export const cut: Meddle = ({ status, body }, response) => {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.write(body.slice(0, body.length / 2), () => response.destroy());
};

/** Proxies that meddle with the answers of an application; closed when the test ends. */
export function useMeddlingProxies() {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });

  /** @param meddling how to answer, or nothing for as it is; asked once for each answer */
  return async function start(target: string, meddling: (answer: Passed) => Meddle | undefined): Promise<string> {
    const server = createServer((request, response) => {
      void forwarded(target, request).then((answer) => (meddling(answer) ?? passOn)(answer, response));
    });
    servers.push(server);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/gatekeeper`;
  };
}

async function forwarded(target: string, request: IncomingMessage): Promise<Passed> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const path = request.url!.replace('/gatekeeper', '');
  const { authorization = '' } = request.headers;
  const headers = { authorization, 'content-type': 'application/json' };
  const answer = await fetch(target + path, { method: 'POST', headers, body: Buffer.concat(chunks) });
  return { path, status: answer.status, body: await answer.text() };
}
