import type { RunningSample } from './running-sample.js';

/** A node's answer that it owns a queue. It is true at some moment between the request and the answer. */
export interface QueueClaim {
  readonly port: number;
  readonly queue: string;
  readonly token: number;
  /** Monotonic ms of this process. */
  readonly asked: number;
  readonly answered: number;
}

/** Answer of `GET /delivery`. */
export interface DeliveryState {
  readonly node: string;
  readonly isLeader: boolean;
  readonly owners: Readonly<Record<string, string | null>>;
  readonly owned: readonly { readonly queue: string; readonly token: number }[];
}

/** ms between two requests to one node. */
const INTERVAL = 200;

/**
 * Asks every node again and again for its queues. It does not wait for the former answer, so a frozen process has requests
 * to answer right after it wakes.
 */
export class QueueClaims {
  readonly claims: QueueClaim[] = [];
  readonly #pending = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly sample: RunningSample) {
    this.#timer = setInterval(() => sample.ports.forEach((port) => this.#ask(port)), INTERVAL);
  }

  /** Stops asking, and waits for the last answers. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
  }

  #ask(port: number): void {
    const asked = performance.now();
    const asking = this.sample.delivery(port).then(
      ({ owned }) => {
        const answered = performance.now();
        this.claims.push(...owned.map((each) => ({ ...each, port, asked, answered })));
      },
      () => undefined, // A killed node does not answer, and one that can't ask the store claims nothing.
    );
    this.#pending.add(asking);
    void asking.finally(() => this.#pending.delete(asking));
  }
}

/**
 * Sentences about claims of two owners. A token belongs to one node, and a node never claims a queue by an older token
 * after another node has claimed it by a newer one.
 */
export function doubleOwnersIn(claims: readonly QueueClaim[]): string[] {
  const faults = new Set<string>();
  for (const one of claims) {
    for (const other of claims) {
      if (one.queue !== other.queue || one.port === other.port) continue;
      if (one.token === other.token) faults.add(`${one.queue}: ${[one.port, other.port].toSorted()} have one token`);
      if (one.token < other.token && one.asked > other.answered)
        faults.add(`${one.queue}: ${one.port} claims it after ${other.port} got it`);
    }
  }
  return [...faults];
}
