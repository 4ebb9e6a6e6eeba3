import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ClientGoneError } from './client-abort.js';
import { type ConsoleRequest, type ConsoleResponse, rawRequest, rawResponse } from './console-request.js';

/** Maximum number of requests of one connection that are not answered yet. Each keeps its head and its body until then. */
const MOST_OF_CONNECTION = 100;

/** The answers of one connection that are not sent yet. Each with the action that ends the wait for its turn. */
type Connection = Map<ConsoleResponse, (reason: Error) => void>;

/**
 * Answers whose connections are open.
 *
 * A client may send requests before it has the answers to those before (pipelining). Node sends the answers in the order of
 * the requests. Until its turn, an answer has no connection, and never hears that the client has gone. So a request begins
 * when it is its turn: until then it holds nothing but its own memory, and it ends with the connection.
 *
 * | request                          | begins                   | after the connection closed |
 * | -------------------------------- | ------------------------ | --------------------------- |
 * | alone, or first                  | at once                  | its answer emits `close`    |
 * | behind others                    | when theirs were sent    | {@link ClientGoneError}     |
 * | behind too many others           | never, and nor do others | {@link ClientGoneError}     |
 *
 * An application that closes calls {@link sendAway}, because a server that closes ends only the connections that are idle at
 * that moment. Without it, a connection whose answer ends a little later is kept alive, and the application waits for it: 5 s
 * on Express, 72 s on Fastify.
 */
export class AnswersUnderWay {
  readonly #connections = new WeakMap<Socket, Connection>();
  /** Those that have answers. */
  readonly #busy = new Set<Connection>();
  #areSentAway = false;

  /**
   * Call it once for each request, before anything is done for it. HTTP/2 has no such order, and other means to close, so it is
   * left out.
   *
   * @returns when it is the turn of this request
   * @throws ClientGoneError if the connection closes before
   */
  async turn(request: ConsoleRequest, response: ConsoleResponse): Promise<void> {
    const { httpVersionMajor, socket } = rawRequest(request);
    if (httpVersionMajor >= 2) return;
    if (socket.destroyed) return expectTurn(response);
    const connection = this.#connectionOf(socket);
    const turn = new Promise<void>((resolve, reject) => {
      connection.set(response, reject);
      if (isTurnOf(rawResponse(response))) resolve();
      else rawResponse(response).once('socket', () => resolve());
    });
    this.#busy.add(connection);
    rawResponse(response).once('close', () => this.#forget(connection, response));
    if (this.#areSentAway) endWithAnswer(response);
    if (connection.size > MOST_OF_CONNECTION) socket.destroy();
    return turn;
  }

  /** Ends each connection together with its answer, also those of later requests. */
  sendAway(): void {
    this.#areSentAway = true;
    for (const connection of this.#busy) for (const response of connection.keys()) endWithAnswer(response);
  }

  /** One listener for each connection, however many requests it has. */
  #connectionOf(socket: Socket): Connection {
    const known = this.#connections.get(socket);
    if (known) return known;
    const connection: Connection = new Map();
    this.#connections.set(socket, connection);
    socket.once('close', () => this.#closed(connection));
    return connection;
  }

  #closed(connection: Connection): void {
    for (const end of connection.values()) end(new ClientGoneError());
    connection.clear();
    this.#busy.delete(connection);
  }

  #forget(connection: Connection, response: ConsoleResponse): void {
    connection.delete(response);
    if (connection.size === 0) this.#busy.delete(connection);
  }
}

/** Node gives an answer its connection when those before were sent, and takes it away after its end. */
function isTurnOf({ socket, destroyed, writableEnded }: ServerResponse): boolean {
  return socket !== null || destroyed || writableEnded;
}

/** @throws ClientGoneError if the answer waits for a connection that has closed */
function expectTurn(response: ConsoleResponse): void {
  if (!isTurnOf(rawResponse(response))) throw new ClientGoneError();
}

function endWithAnswer(response: ConsoleResponse): void {
  const raw = rawResponse(response);
  if (!raw.headersSent) return void response.header('Connection', 'close');
  // Kept now: after its end the answer knows its connection no longer.
  const { socket } = raw;
  raw.once('finish', () => socket?.destroySoon());
}
