import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';
import { type Driver, type StoreDefinition, type StoreHealth } from '../../core/store/index.js';
import { CommandFailure, EXIT } from '../options/exit-code.js';

/** ms between two checks whether the store is connected. */
const LOOK = 20;

/**
 * Waits for the connection of the store that a gatekeeper has opened. A gatekeeper itself does not wait, but a command
 * must.
 */
export class ConnectedStore implements StoreDefinition {
  readonly kind: string;
  #store?: Driver;

  constructor(private readonly definition: StoreDefinition) {
    this.kind = definition.kind;
  }

  open(...options: Parameters<StoreDefinition['open']>): Driver {
    return (this.#store = this.definition.open(...options));
  }

  /** Resolves as soon as the store is connected. @throws CommandFailure if it is not connected within `within` ms */
  async connected(target: string, within: number): Promise<void> {
    const deadline = performance.now() + within;
    while (!this.#health?.connected) {
      if (performance.now() > deadline) throw this.#unreachable(target, within);
      await pause(systemClock, LOOK);
    }
  }

  /** Calls `onChange` at each hint of a change. @returns a function that ends the watch */
  watch(onChange: () => void): Promise<() => Promise<void>> {
    return this.#store!.watch('', onChange);
  }

  get #health(): StoreHealth | undefined {
    return this.#store?.health();
  }

  #unreachable(target: string, within: number): CommandFailure {
    const why = this.#health?.problem ?? 'no answer';
    const advice = 'Check the address and the name of the cluster, or give a longer --timeout';
    return new CommandFailure(
      EXIT.unreachable,
      `${target} can't be reached within ${within} ms (${why}). A node that can't reach it either grants nothing. ${advice}`,
    );
  }
}
