import { type SampleNode, type SampleTexts, introduction, whoDoesWhat } from './texts.js';

/** The sample as the keys see it. */
export interface ControlledSample extends SampleTexts {
  readonly nodes: readonly ControlledNode[];
  toggleDetails(): Promise<boolean>;
  revive(place: number): Promise<void>;
}

/** A node as the keys see it. */
export interface ControlledNode extends SampleNode {
  kill(): Promise<void>;
  reconcile(name: string): Promise<void>;
}

const MORE = 'Each message that is delivered and each page of the report has a line now.';
const LESS = 'Messages and pages have no lines any more.';

/** What the keys do. One after the other: a node is not started again before it is down. */
export class Controls {
  #former: Promise<void> = Promise.resolve();
  #batches = 0;

  constructor(
    private readonly sample: ControlledSample,
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
    if (key === 'v') return this.#say((await this.sample.toggleDetails()) ? MORE : LESS);
    if (key === 'h') return this.write(introduction(this.sample));
    this.#say(`There is nothing at the key ${JSON.stringify(key)}: h shows the keys.`);
  }

  /** The line about the end of a node is the same, however it ended: see `endOf`. */
  async #toggle(place: number): Promise<void> {
    if (this.sample.nodes[place]!.isUp) return this.sample.nodes[place]!.kill();
    await this.sample.revive(place);
    const { name, pid } = this.sample.nodes[place]!;
    this.#say(`${name} runs again, as a new instance, and gets its share of the queues: pid ${pid}`);
  }

  async #startTasks(): Promise<void> {
    const node = this.sample.nodes.find(({ isUp }) => isUp);
    if (!node) return this.#say('No node runs: start one first.');
    await node.reconcile(`batch-${++this.#batches}`);
    const book = `${this.sample.archiveUrl}/ledger/record-sets`;
    this.#say(`100 tasks run on all nodes, which takes about 10 s. Who did which:\n${book}`);
  }

  #say(sentence: string): void {
    this.write(`\n${sentence}\n\n`);
  }
}
