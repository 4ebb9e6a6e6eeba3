import { type ConsoleRequest, type ConsoleResponse, rawRequest, rawResponse } from './console-request.js';
import { onceClosed } from './once-closed.js';

/**
 * Answers whose connections are open. An application that closes calls {@link sendAway}, because a server that closes
 * ends only the connections that are idle at that moment. Without it, a connection whose answer ends a little later is
 * kept alive, and the application waits for it: 5 s on Express, 72 s on Fastify.
 */
export class AnswersUnderWay {
  readonly #answers = new Set<ConsoleResponse>();
  #areSentAway = false;

  /** Call it once for each request, before its answer. HTTP/2 has other means, so it is left out. */
  add(request: ConsoleRequest, response: ConsoleResponse): void {
    if (rawRequest(request).httpVersionMajor >= 2) return;
    if (this.#areSentAway) return endWithAnswer(response);
    this.#answers.add(response);
    onceClosed(rawResponse(response), () => this.#answers.delete(response));
  }

  /** Ends each connection together with its answer, also those of later requests. */
  sendAway(): void {
    this.#areSentAway = true;
    for (const response of this.#answers) endWithAnswer(response);
  }
}

function endWithAnswer(response: ConsoleResponse): void {
  const raw = rawResponse(response);
  if (!raw.headersSent) return void response.header('Connection', 'close');
  // Kept now: after its end the answer knows its connection no longer.
  const { socket } = raw;
  raw.once('finish', () => socket?.end());
}
