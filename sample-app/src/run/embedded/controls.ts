import type { EmbeddedSample } from './embedded-sample.js';
import { introduction, whoDoesWhat } from './texts.js';

const MORE = 'Each message that is delivered and each page of the report has a line now.';
const LESS = 'Messages and pages have no lines any more.';

/** What the keys do. One after the other: a node is not started again before it is down. */
export class Controls {
  #former: Promise<void> = Promise.resolve();
  #batches = 0;

  constructor(
    private readonly sample: EmbeddedSample,
    private readonly write: (text: string) => void,
  ) {}

  /** Resolves when all that was asked for so far is done. Never rejects. */
  press(key: string): Promise<void> {
    this.#former = this.#former
      .then(() => this.#act(key))
      .catch((error: Error) => this.#say(`Key ${key}: ${error.message}`));
    return this.#former;
  }

  async #act(key: string): Promise<void> {
    const place = Number(key) - 1;
    if (this.sample.nodes[place]) return this.#toggle(place);
    if (key === 'w') return this.write(await whoDoesWhat(this.sample));
    if (key === 't') return this.#startTasks();
    if (key === 'v') return this.#say(this.sample.toggleDetails() ? MORE : LESS);
    if (key === 'h') return this.write(introduction(this.sample));
    this.#say(`There is nothing at the key ${JSON.stringify(key)}: h shows the keys.`);
  }

  async #toggle(place: number): Promise<void> {
    const { name, isUp } = this.sample.nodes[place]!;
    if (!isUp) {
      await this.sample.revive(place);
      return this.#say(`${name} runs again, as a new instance, and gets its share of the queues.`);
    }
    await this.sample.kill(place);
    this.#say(
      `${name} is down, as after kill -9: it gave nothing back. When its leases expire,\n` +
        `within 10 s, others take its permits, its queues and its tasks. Press w to see\n` +
        `who has what, and ${place + 1} to start it again.`,
    );
  }

  async #startTasks(): Promise<void> {
    const [node] = this.sample.living;
    if (!node) return this.#say('No node runs: start one first.');
    await node.reconcile(`batch-${++this.#batches}`);
    const book = `${this.sample.archiveUrl}/ledger/record-sets`;
    this.#say(`100 tasks run on all nodes, which takes about 10 s. Who did which:\n${book}`);
  }

  #say(sentence: string): void {
    this.write(`\n${sentence}\n\n`);
  }
}
