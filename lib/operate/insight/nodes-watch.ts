import type { LivingNodes } from '../activity/index.js';
import { Periodic } from '../../core/async/periodic.js';
import type { Context } from '../../core/context/context.js';
import { isStoreError } from '../../core/store/index.js';

/** ms between two looks right after the start, when another application may start as well. */
const FIRST_INTERVAL = 5000;
/** ms after the start with such looks. */
const FIRST = 60_000;
/** ms between two looks later. */
const INTERVAL = 60_000;
/** Shortest ms between two looks, per node: a look reads the entries of all nodes, and all nodes look. */
const PER_NODE = 1000;

/** A reading of the registry: the living nodes, with their code. */
export type NodesReading = Awaited<ReturnType<LivingNodes['codes']>>;

/** A part of a node that draws conclusions from the entries of all nodes. */
export interface NodesReader {
  /** Names its look, where an error is reported. */
  readonly action: string;
  look(reading: NodesReading): Promise<void>;
  /** Is called after a look that failed. */
  forget?(): void;
}

/** ms until the next look. @param age ms since the start @param nodes number of nodes at the last look */
export function pauseBetweenLooks(age: number, nodes: number): number {
  return Math.max(age < FIRST ? FIRST_INTERVAL : INTERVAL, nodes * PER_NODE);
}

/** Reads the registry from time to time, once for all readers. */
export class NodesWatch {
  #startedAt = 0;
  #nodes = 0;
  readonly #periodic: Periodic;

  constructor(
    private readonly living: Pick<LivingNodes, 'codes'>,
    private readonly readers: readonly NodesReader[],
    private readonly context: Context,
  ) {
    const { nodeClock, random } = context;
    this.#periodic = new Periodic(nodeClock, () => this.#look(), {
      interval: () => pauseBetweenLooks(nodeClock.monotonic() - this.#startedAt, this.#nodes),
      chance: random.number,
      onError: (error) => this.#fail(this.readers, error),
    });
  }

  start(): void {
    this.#startedAt = this.context.nodeClock.monotonic();
    this.#periodic.start();
  }

  stop(): void {
    this.#periodic.stop();
  }

  async #look(): Promise<void> {
    const reading = await this.living.codes();
    this.#nodes = reading.codes.length;
    for (const reader of this.readers)
      await reader.look(reading).catch((error: unknown) => this.#fail([reader], error));
  }

  #fail(readers: readonly NodesReader[], error: unknown): void {
    for (const reader of readers) {
      reader.forget?.();
      // During an outage, the parts that need the store report it.
      if (!isStoreError(error)) this.context.events.next({ type: 'problem', action: reader.action, error });
    }
  }
}
