import { Deadline, DeadlinePassed } from '../../core/async/deadline.js';
import { inSlices } from '../../core/async/slices.js';
import type { Context } from '../../core/context/context.js';
import type { GroupSettings } from '../group-options.js';
import { type MasterSet, readMasterSet } from './master-set.js';

/** ms that one call of the application's `resources` may take. */
const PATIENCE = 30_000;

/** Result of one call of the application's `resources`. */
export type Reading =
  | {
      readonly set: MasterSet;
      /** Requests to look that were known when it began. */
      readonly asked: number;
    }
  | { readonly error: unknown };

/** Reads the resources of one group by the application's functions, one call at a time. */
export class ResourceReader {
  #reading: Promise<Reading> | undefined;
  /** Begins after the present one. */
  #next: Promise<Reading> | undefined;
  /** Requests that were known when the last reading began. */
  #answers: number | undefined;
  #set: MasterSet | undefined;
  #last: Reading | undefined;

  /**
   * @param group name of the group
   * @param asked number of requests of all nodes to look at the resources, as far as this node knows
   * @param onReading called with each result
   */
  constructor(
    private readonly group: string,
    private readonly source: Pick<GroupSettings, 'resources' | 'id'>,
    private readonly context: Context,
    private readonly asked: () => number,
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

  /** The reading that has begun and has not ended, if there is one. */
  get underWay(): Promise<Reading> | undefined {
    return this.#reading;
  }

  /** Whether a node has asked for a look since the last reading began. */
  get isAsked(): boolean {
    return this.#answers !== this.asked();
  }

  /** Calls the application's `resources`. Calls at the same time share one reading. Never rejects. */
  read(): Promise<Reading> {
    return this.#reading ?? this.#next ?? this.#begin();
  }

  /**
   * Returns a reading that began after the last request of any node. If the present one began before that request, it may
   * lack what the application has just written, so another one follows it. Never rejects.
   */
  async answer(): Promise<Reading> {
    if (!this.isAsked) return this.#reading ?? this.#last!;
    if (!this.#reading) return this.read();
    this.#next ??= this.#reading.then((last) => (this.context.isClosing() ? last : this.#begin()));
    return this.#next;
  }

  #begin(): Promise<Reading> {
    this.#next = undefined;
    this.#answers = this.asked();
    // In a later microtask: the application's function may ask for a reading, too, and must find this one.
    const reading = Promise.resolve().then(() => this.#read());
    this.#reading = reading.finally(() => (this.#reading = undefined));
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
    const { group, source } = this;
    const { timers, nodeClock } = this.context;
    const asked = this.#answers!;
    try {
      // In an async function, so that an error that is thrown at once is caught, too.
      const calling = (async () => source.resources())();
      const items = await new Deadline(timers, PATIENCE).race(calling);
      return { set: await inSlices(readMasterSet(group, items, source.id), nodeClock), asked };
    } catch (error) {
      return { error: error instanceof DeadlinePassed ? new Error(`they took longer than ${PATIENCE} ms`) : error };
    }
  }
}
