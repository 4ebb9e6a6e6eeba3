import { eventsIn } from '../../stores/remote/event-stream.js';
import type { Call, Operator } from '../operator/operator.js';
import { RestClient, type RestOptions } from './rest-client.js';

/** Factor for the timeout of a change of many definitions. */
const BULK_PATIENCE = 10;

/** Operates over the console's HTTP API. The token names the author of changes. */
export class RestOperator implements Operator {
  readonly #client: RestClient;

  constructor(private readonly options: RestOptions) {
    this.#client = new RestClient(options);
  }

  get target(): string {
    return this.#client.target;
  }

  get timeout(): number {
    return this.options.timeout;
  }

  readonly call: Call = (operation, { params = {}, query, body } = {}) => {
    const { method, path, changesMany, otherStatus } = operation;
    const values: Partial<Record<string, string>> = { ...params };
    const [, ...segments] = path
      .split('/')
      .map((part) => (part.startsWith(':') ? (values[part.slice(1)] ?? '') : part));
    return this.#client.ask(segments, {
      method,
      ...(query && { query }),
      ...(body && { body }),
      ...(changesMany && { patience: BULK_PATIENCE }),
      ...(otherStatus && { otherStatus: otherStatus[0] }),
    });
  };

  async hints(onHint: () => void, signal: AbortSignal): Promise<void> {
    const stream = await this.#client.stream(['events'], signal);
    onHint();
    for await (const _event of eventsIn(stream)) onHint();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
  }
}
