import { Injectable } from '@nestjs/common';
import { StaleTokenError } from '../archive/archive.client.js';
import { Environment } from '../environment.js';

/** Asks the shared process for messages. Each write has a fencing token. */
@Injectable()
export class QueuesClient {
  constructor(private readonly environment: Environment) {}

  /** Adds one message to each of these queues. @throws StaleTokenError */
  async add(queues: readonly string[], token: number, signal: AbortSignal): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    await this.#ask(`?token=${token}`, { method: 'POST', headers, body: JSON.stringify({ queues }), signal });
  }

  /** Returns the number of the first message that waits. */
  async next(queue: string, signal: AbortSignal): Promise<number | undefined> {
    const answer = await this.#ask(`/${queue}`, { signal });
    return ((await answer.json()) as { message?: number }).message;
  }

  /** Removes a message that was delivered. @throws StaleTokenError */
  async remove(queue: string, message: number, token: number, signal: AbortSignal): Promise<void> {
    await this.#ask(`/${queue}/${message}?token=${token}`, { method: 'DELETE', signal });
  }

  async #ask(path: string, request: RequestInit): Promise<Response> {
    const url = `${this.environment.archiveUrl}/queues${path}`;
    const answer = await fetch(url, request);
    if (answer.status === 409) throw new StaleTokenError(`the queues refused a stale token: ${url}`);
    if (!answer.ok) throw new Error(`the queues answered ${answer.status} to ${url}`);
    return answer;
  }
}
