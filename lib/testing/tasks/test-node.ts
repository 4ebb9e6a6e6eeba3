import { type GatekeeperOptions, partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import type { Driver, StoreDefinition } from '../../core/store/index.js';
import * as engine from '../../tasks/engine.js';
import { taskCode } from '../../tasks/task-code.js';
import type { TestNodeClock } from './test-clock.js';

/** Options of a node of `TestTasks`: those of `GatekeeperModule.forRoot`, without the store. */
export type TestNodeOptions = Partial<Omit<GatekeeperOptions, 'store'>>;

interface TestNodeParts {
  readonly store: StoreDefinition;
  readonly clock: TestNodeClock;
  /** Moves time until the promise is settled. */
  readonly drive: <T>(promise: Promise<T>) => Promise<T>;
}

/** A real gatekeeper over a store in memory, with the clock of a test. Made by `TestTasks.node()`. */
export class TestNode extends GatekeeperService {
  readonly #parts: TestNodeParts;
  readonly #stores: Driver[];
  #isCrashed = false;
  #isStarted = false;
  /** Whether idle time may be skipped. A leader or an owner of resources has leases that must be renewed. */
  readonly isSkippable: boolean;

  constructor(options: TestNodeOptions, parts: TestNodeParts) {
    // An import takes real time, for which no move of time waits.
    taskCode.set(engine);
    const stores: Driver[] = [];
    const open: StoreDefinition['open'] = (...args) => {
      const store = parts.store.open(...args);
      stores.push(store);
      return store;
    };
    // Without a heartbeat and a history an idle node has almost no timers, so time passes quickly.
    const defaults = { heartbeat: 0, history: false };
    super({ ...defaults, ...options, store: { ...parts.store, open } }, { nodeClock: parts.clock });
    this.#parts = parts;
    this.#stores = stores;
    // The store has the test's own clock. That time was skipped is no sign that it is wrong.
    partsOf(this).context.clusterClock.suspect = () => undefined;
    this.isSkippable = !options.leadership && !options.allocation && !options.membership;
  }

  /** True after the start, until it crashes or closes. */
  get isLiving(): boolean {
    return this.#isStarted && !this.#isCrashed;
  }

  /** Whether the test let it crash. */
  get isCrashed(): boolean {
    return this.#isCrashed;
  }

  /** Ends its timers and its connection at once, as `kill -9` does. Code of handlers that runs can't be stopped. */
  async crash(): Promise<void> {
    this.#isCrashed = true;
    this.#parts.clock.stop();
    await Promise.all(this.#stores.map((store) => store.close()));
  }

  /** Starts as usual. Time moves if the start has to wait. */
  override async start(): Promise<void> {
    await this.#parts.drive(super.start());
    this.#isStarted = true;
  }

  /** Waits for handlers as usual. Time moves up to `shutdownGrace`. Does nothing after a crash. */
  override async drain(): Promise<void> {
    this.#isStarted = false;
    if (!this.#isCrashed) await this.#parts.drive(super.drain());
  }

  /** Closes as usual. Does nothing after a crash. */
  override async close(): Promise<void> {
    if (!this.#isCrashed) await this.#parts.drive(super.close());
  }
}
