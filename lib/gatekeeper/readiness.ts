import { forEachLimit } from '../async/for-each-limit.js';
import type { Context } from '../context/context.js';
import { Deadline, DeadlinePassed } from '../async/deadline.js';
import type { DeclaredDefinitions } from '../definitions/index.js';
import { type Lack, NotReadyError } from './not-ready.error.js';
import { isUnreadable } from '../records/known-record.js';
import { type ReadyOptions, parseReadyOptions } from '../permits/call-options.js';
import type { OwnRecords } from '../records/own-records.js';
import type { Shards } from '../records/shards.js';

/** ms between two looks at a store or a clock that is not there yet. */
const PAUSE = 100;

/** The first thing that a node lacks before it can decide. */
interface Lacking {
  readonly lack: Lack;
  readonly cause?: unknown;
  /** A definition that is still to be put into the store. */
  readonly awaited?: string;
}

/** Waits until a node can decide: it is connected, knows cluster time, and finds its code's definitions in the store. */
export class Readiness {
  constructor(
    private readonly declared: DeclaredDefinitions,
    private readonly own: OwnRecords,
    private readonly shards: Shards,
    private readonly context: Context,
  ) {}

  /** @throws NotReadyError when the time is over, or when this node shuts down */
  async wait(options?: ReadyOptions): Promise<void> {
    const { timeout } = parseReadyOptions(options);
    const deadline = new Deadline(this.context.timers, timeout);
    let last: Lacking = { lack: 'store' };
    for (;;) {
      const lacking = await this.#inTime(deadline, () => this.#lacking(), last);
      if (!lacking) return;
      last = lacking;
      const { lack, cause, awaited } = lacking;
      if (this.context.isClosing()) throw new NotReadyError('closing', timeout);
      if (deadline.remaining <= 0) throw new NotReadyError(lack, timeout, { cause });
      const isWorthwhile =
        awaited !== undefined && (await this.#inTime(deadline, () => this.declared.awaitLoad(awaited), last));
      if (!isWorthwhile) await deadline.pause(PAUSE);
    }
  }

  /** @returns `otherwise` when the time is over */
  #inTime<T, O>(deadline: Deadline, work: () => Promise<T>, otherwise: O): Promise<T | O> {
    return deadline.race(work()).catch((error: unknown) => {
      if (error instanceof DeadlinePassed) return otherwise;
      throw error;
    });
  }

  async #lacking(): Promise<Lacking | undefined> {
    const { connected, problem } = this.context.store.health();
    if (!connected) return { lack: 'store', cause: problem };
    try {
      await this.#setClock();
    } catch (cause) {
      return { lack: 'clock', cause };
    }
    try {
      const [awaited] = await this.#absent();
      return awaited === undefined ? undefined : { lack: 'definitions', awaited };
    } catch (cause) {
      return { lack: 'definitions', cause };
    }
  }

  async #setClock(): Promise<void> {
    const { clusterClock } = this.context;
    if (!clusterClock.isFresh || clusterClock.mayHearMore) await clusterClock.sample();
  }

  /**
   * Names of which the store has no record in force. One that can't be read is there, and is left as it is. One that other
   * nodes use on demand is not awaited: the node that holds it may end only when this one is ready.
   */
  async #absent(): Promise<string[]> {
    const names = this.declared.all.map(({ name }) => name).filter((name) => this.declared.isAwaited(name));
    const absent: string[] = [];
    await forEachLimit(names, async (name) => {
      const isReadable = await this.#look(name);
      if (isReadable && this.declared.isAwaited(name) && !this.shards.keepsUnclaimed(name)) absent.push(name);
    });
    return absent;
  }

  /** @returns false when it can't be read */
  async #look(name: string): Promise<boolean> {
    try {
      await this.own.of(name).look();
      return true;
    } catch (error) {
      if (isUnreadable(error)) return false;
      throw error;
    }
  }
}
