import { forEachLimit } from '../core/async/for-each-limit.js';
import type { Context } from '../core/context/context.js';
import { GatekeeperError, messageOf } from '../core/decision/index.js';
import { Deadline, DeadlinePassed } from '../core/async/deadline.js';
import type { DeclaredDefinitions } from '../core/permits/declared/declared-definitions.js';
import { isUnreadable } from '../core/cell/known-record.js';
import { type ReadyOptions, parseReadyOptions } from '../core/permits/call-options.js';
import type { DedicatedRecords } from '../core/cell/dedicated-records.js';
import type { Shards } from '../core/cell/shards.js';

/** The first thing that a node needs before it can decide, and does not have yet. `closing`: the node shuts down. */
export type NotReadyReason = 'store' | 'clock' | 'definitions' | 'closing';

const LACK: Record<NotReadyReason, string> = {
  store: "the store is not connected: check that its members run and that the store's options fit them",
  clock: "the members' clocks could not be read: check that all members answer",
  definitions:
    'definitions of this code are not in the store yet: this node creates them `definitionsDelay` after the start, and only if it can read the archive',
  closing: 'this node shuts down',
};

/** The timeout of `ready()` passed, and the node still can't decide. */
export class NotReadyError extends GatekeeperError {
  static override readonly className = 'NotReadyError';
  readonly code = 'not-ready';

  constructor(
    /** The first thing that the node does not have yet. */
    readonly lack: NotReadyReason,
    /** ms */
    readonly timeout: number,
    options?: ErrorOptions,
  ) {
    const { cause } = options ?? {};
    const why = cause === undefined ? '' : ` (${messageOf(cause)})`;
    super(`not ready within ${timeout} ms: ${LACK[lack]}${why}`, options);
  }
}

/** ms between two checks of a store or a clock that is not ready. */
const PAUSE = 100;

/** The first thing that a node does not have yet. */
interface Lacking {
  readonly lack: NotReadyReason;
  readonly cause?: unknown;
  /** Name of a definition that is not in the store yet. */
  readonly awaited?: string;
}

/**
 * Waits until a node can decide: it is connected, cluster time is known, and its code's definitions are in the store.
 */
export class Readiness {
  constructor(
    private readonly declared: DeclaredDefinitions,
    private readonly own: DedicatedRecords,
    private readonly shards: Shards,
    private readonly context: Context,
  ) {}

  /** @throws NotReadyError after the timeout, or when this node shuts down */
  async wait(options?: ReadyOptions): Promise<void> {
    const { timeout } = parseReadyOptions(options);
    const deadline = new Deadline(this.context.timers, timeout);
    // Before the start, nothing else may have opened it.
    if (!this.context.isClosing()) this.context.store.open();
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

  /** @returns `otherwise` after the deadline */
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
   * Names of code's definitions that are not in the store. An unreadable record counts as present. A name that other nodes
   * use on demand is not awaited: the node that holds it may end only when this node is ready.
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

  /** @returns false if the record can't be read */
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
