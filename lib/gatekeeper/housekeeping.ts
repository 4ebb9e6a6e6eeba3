import { LONGEST_ON_DEMAND } from '../core/decision/index.js';
import { StoreUnavailableError } from '../core/store/index.js';
import { type Backoff, pauseAfter } from '../core/async/backoff.js';
import { Periodic } from '../core/async/periodic.js';
import type { Context } from '../core/context/context.js';
import type { GatekeeperSettings } from './gatekeeper-options.js';

/** ms. If a shard lost a claim, the name must be claimed again before the shard's grace ends. */
const LONGEST_SWEEP = LONGEST_ON_DEMAND / 3;

/** Pauses before the first load is tried again: until it ends, jobs of the code may have no definition. */
const FIRST_LOAD: Backoff = { first: 1000, longest: 60_000, jitter: 0 };

/** The repeated work of a node. */
interface Chores {
  readonly sweep: () => Promise<void>;
  /** @returns false if it is too early: the cluster's first records are not there yet */
  readonly load: () => Promise<boolean>;
  readonly dump: () => Promise<void>;
}

/** Repeats the sweep, the load of definitions and the state dump, from {@link start} to {@link stop}. */
export class Housekeeping {
  readonly #sweep: Periodic;
  readonly #load: Periodic;
  readonly #dump?: Periodic;
  #mayLoad = false;
  #hasLoaded = false;
  /** Tries of the first load. */
  #tries = 0;

  constructor(
    private readonly context: Context,
    private readonly chores: Chores,
    private readonly settings: GatekeeperSettings,
  ) {
    const { sweepInterval, stateDump } = settings;
    this.#sweep = this.#repeat('sweep', () => Math.min(sweepInterval, LONGEST_SWEEP), chores.sweep);
    this.#load = this.#repeat(
      'load definitions',
      () => this.#untilLoad(),
      async () => {
        this.#mayLoad = true;
        const isDone = await chores.load();
        this.#hasLoaded ||= isDone;
      },
    );
    if (stateDump) this.#dump = this.#repeat('state dump', () => stateDump, chores.dump);
  }

  /** Whether the first load of definitions has begun. From then on each sweep also creates missing ones again. */
  get mayLoad(): boolean {
    return this.#mayLoad;
  }

  /** Starts all work. Waits for the first load of definitions only if no other process writes to the store. */
  async start(): Promise<void> {
    this.#sweep.start();
    if (this.settings.store.isOwn) await this.#load.begin();
    else this.#load.start(this.settings.definitionsDelay);
    this.#dump?.start();
  }

  /** Loads definitions now, besides the repeated loads. A failure is reported; the next load tries again. */
  loadSoon(): void {
    void this.chores.load().catch(this.#report('load definitions'));
  }

  stop(): void {
    for (const periodic of [this.#sweep, this.#load, this.#dump]) periodic?.stop();
  }

  /** ms */
  #untilLoad(): number {
    const { sweepInterval } = this.settings;
    return this.#hasLoaded ? sweepInterval : Math.min(sweepInterval, pauseAfter(this.#tries++, 0, FIRST_LOAD));
  }

  #repeat(action: string, interval: () => number, work: () => Promise<void>): Periodic {
    const { nodeClock, random } = this.context;
    const onError = this.#report(action);
    return new Periodic(nodeClock, work, { interval, chance: random.number, onError });
  }

  #report(action: string): (error: unknown) => void {
    const { reachability, events } = this.context;
    return (error) => {
      if (error instanceof StoreUnavailableError) reachability.lost(error);
      events.next({ type: 'problem', action, error });
    };
  }
}
