import { systemClock } from '../../async/node-clock.js';
import { pause } from '../../async/pause.js';
import { type RecordStore, type StoreDefinition, type StoreHealth } from '../../stores/index.js';
import { CommandFailure, EXIT } from '../exit-code.js';

/** ms between looks at a store that is not connected yet. */
const LOOK = 20;

/**
 * Gives access to the opened store and waits for its connection. A gatekeeper never waits for its store, but the user of a
 * command does.
 */
export class ConnectedStore implements StoreDefinition {
  readonly kind: string;
  #store?: RecordStore;

  constructor(private readonly definition: StoreDefinition) {
    this.kind = definition.kind;
  }

  open(...options: Parameters<StoreDefinition['open']>): RecordStore {
    return (this.#store = this.definition.open(...options));
  }

  /** @throws CommandFailure when it is not connected `within` ms */
  async connected(target: string, within: number): Promise<void> {
    const deadline = performance.now() + within;
    while (!this.#health?.connected) {
      if (performance.now() > deadline) throw this.#unreachable(target, within);
      await pause(systemClock, LOOK);
    }
  }

  /** Calls `onChange` at each change hint. */
  watch(onChange: () => void): Promise<() => Promise<void>> {
    return this.#store!.watch('', onChange);
  }

  get #health(): StoreHealth | undefined {
    return this.#store?.health();
  }

  #unreachable(target: string, within: number): CommandFailure {
    const why = this.#health?.problem ?? 'no answer';
    const advice = 'Check the address and the name of the cluster, or give it longer with --timeout';
    return new CommandFailure(
      EXIT.unreachable,
      `${target} can't be reached within ${within} ms (${why}): nothing is granted to a node that sees the same. ${advice}`,
    );
  }
}
