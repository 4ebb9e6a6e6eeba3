import { Deadline, DeadlinePassed } from '../../async/deadline.js';
import { inSlices } from '../../async/slices.js';
import type { Context } from '../../context/context.js';
import { type MasterSet, readMasterSet } from './master-set.js';

/** ms that one call of the application's `resources` may take. */
const PATIENCE = 30_000;

interface Source {
  readonly resources: () => Iterable<unknown> | Promise<Iterable<unknown>>;
  readonly id: (item: unknown) => unknown;
}

/** Result of one call of the application's `resources`. */
export type Reading = { readonly set: MasterSet } | { readonly error: unknown };

/** Reads the resources of one group by the application's functions, one call at a time. */
export class ResourceReader {
  #reading: Promise<Reading> | undefined;
  #set: MasterSet | undefined;
  #last: Reading | undefined;

  constructor(
    private readonly group: string,
    private readonly source: Source,
    private readonly context: Context,
    /** Called with each result. */
    private readonly onReading: (reading: Reading) => void,
  ) {}

  /** The last resources that could be read. */
  get set(): MasterSet | undefined {
    return this.#set;
  }

  /** The last reading. */
  get last(): Reading | undefined {
    return this.#last;
  }

  /** Calls the application's `resources`. Calls at the same time share one reading. Never rejects. */
  read(): Promise<Reading> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #read(): Promise<Reading> {
    const reading = await this.#attempt();
    if ('set' in reading) this.#set = reading.set;
    this.#last = reading;
    this.onReading(reading);
    return reading;
  }

  async #attempt(): Promise<Reading> {
    const { timers, nodeClock } = this.context;
    try {
      // In an async function, so that an error that is thrown at once is caught, too.
      const calling = (async () => this.source.resources())();
      const items = await new Deadline(timers, PATIENCE).race(calling);
      return { set: await inSlices(readMasterSet(this.group, items, this.source.id), nodeClock) };
    } catch (error) {
      return { error: error instanceof DeadlinePassed ? new Error(`they took longer than ${PATIENCE} ms`) : error };
    }
  }
}
