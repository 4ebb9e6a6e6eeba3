import { LONGEST_ON_DEMAND } from '../decision/index.js';
import { StoreUnavailableError } from '../stores/index.js';
import { Periodic } from '../async/periodic.js';
import type { Context } from '../context/context.js';
import type { GatekeeperSettings } from './gatekeeper-options.js';

/** ms: a claim of a name that a lost shard forgot must be noted again before the shard's grace is over. */
const LONGEST_SWEEP = LONGEST_ON_DEMAND / 3;

/** The work that a node repeats. */
interface Chores {
  readonly sweep: () => Promise<void>;
  readonly load: () => Promise<void>;
  readonly dump: () => Promise<void>;
}

/** Repeats what keeps a node and its store in order, from {@link start} to {@link stop}. */
export class Housekeeping {
  readonly #sweep: Periodic;
  readonly #load: Periodic;
  readonly #dump?: Periodic;
  #mayLoad = false;

  constructor(
    private readonly context: Context,
    chores: Chores,
    private readonly settings: GatekeeperSettings,
  ) {
    const { sweepInterval, stateDump } = settings;
    this.#sweep = this.#repeat('sweep', Math.min(sweepInterval, LONGEST_SWEEP), chores.sweep);
    this.#load = this.#repeat('load definitions', sweepInterval, async () => {
      this.#mayLoad = true;
      await chores.load();
    });
    if (stateDump) this.#dump = this.#repeat('state dump', stateDump, chores.dump);
  }

  /** Whether definitions are being loaded: from then on each sweep also brings back those that are missing. */
  get mayLoad(): boolean {
    return this.#mayLoad;
  }

  /** Waits for the definitions only where the store is this process's own. */
  async start(): Promise<void> {
    this.#sweep.start();
    if (this.settings.store.isOwn) await this.#load.begin();
    else this.#load.start(this.settings.definitionsDelay);
    this.#dump?.start();
  }

  stop(): void {
    for (const periodic of [this.#sweep, this.#load, this.#dump]) periodic?.stop();
  }

  #repeat(action: string, interval: number, work: () => Promise<void>): Periodic {
    const { nodeClock, random, reachability, events } = this.context;
    return new Periodic(nodeClock, work, {
      interval: () => interval,
      chance: random.number,
      onError: (error) => {
        if (error instanceof StoreUnavailableError) reachability.lost(error);
        events.next({ type: 'problem', action, error });
      },
    });
  }
}
