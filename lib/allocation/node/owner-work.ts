import { NotOwnerError } from '../allocation.errors.js';
import type { NodeShare } from './node-share.js';

/** One owned resource, for work on it. */
export interface Ownership {
  /** Name of the group. */
  readonly group: string;
  /** Id of the resource. */
  readonly resource: string;
  /** Fencing token: send it with each write. */
  readonly token: number;
  /** Aborts when the resource must be given back. */
  readonly signal: AbortSignal;
  /** Whether this node still owns the resource, by its own clocks. */
  readonly isOwned: boolean;
  /**
   * Call this right before a step that only the owner may do. It does not ask the store.
   *
   * @throws NotOwnerError
   */
  assertOwned(): void;
}

/** Result of `group.run()`. */
export type OwnerRun<R> =
  | {
      /** Whether the work ran. */
      readonly executed: true;
      /** The value that the work returned. */
      readonly value: R;
    }
  | {
      /** Whether the work ran. */
      readonly executed: false;
      /** Why it did not: this node does not own the resource. */
      readonly reason: 'not-owner';
    };

/** One piece of work. */
export interface Running {
  readonly resource: string;
  /** The membership lease under which it began. */
  readonly incarnation: string;
  readonly ending: AbortController;
  readonly done: Promise<unknown>;
  /** Number of the change that took its resource away. */
  abortedBy?: number;
}

/** The pieces of work on owned resources. A revoked resource is given back when its work has ended. */
export class OwnerWork {
  readonly #running = new Set<Running>();

  constructor(
    private readonly group: string,
    private readonly share: Pick<NodeShare, 'owned' | 'isHeld' | 'incarnation'>,
  ) {}

  /** Runs `work` if this node owns the resource. @throws any error of `work` */
  async run<R>(resource: string, work: (ownership: Ownership) => R | Promise<R>): Promise<OwnerRun<R>> {
    const token = this.share.owned.get(resource);
    if (token === undefined) return { executed: false, reason: 'not-owner' };
    const ending = new AbortController();
    // It begins after it is noted below: its first lines may end the ownership, and must be aborted then.
    const begun = Promise.resolve().then(() => work(this.#ownership(resource, token, ending)));
    const { incarnation } = this.share;
    // The caller of run() gets the error. Here only the end of the work counts.
    const running: Running = { resource, incarnation, ending, done: begun.catch(() => undefined) };
    this.#running.add(running);
    try {
      return { executed: true, value: await begun };
    } finally {
      this.#running.delete(running);
    }
  }

  /** Aborts the work on resources that this node does not own any more. @param change number of the change, which grows */
  abort(change: number): void {
    const { owned, incarnation: now } = this.share;
    for (const running of this.#running) {
      const { resource, incarnation, ending } = running;
      if (incarnation === now && owned.has(resource)) continue;
      running.abortedBy ??= change;
      ending.abort(new NotOwnerError(this.group, resource));
    }
  }

  /** The work that was aborted and goes on. */
  get aborted(): readonly Running[] {
    return [...this.#running].filter(({ ending }) => ending.signal.aborted);
  }

  /** Waits no more for this work. */
  forget(work: readonly Running[]): void {
    for (const running of work) this.#running.delete(running);
  }

  #ownership(resource: string, token: number, ending: AbortController): Ownership {
    const { group, share } = this;
    const { incarnation } = share;
    const isOwned = () => !ending.signal.aborted && share.isHeld && share.incarnation === incarnation;
    return {
      group,
      resource,
      token,
      get signal() {
        // Also notices a lapse that no timer has reported yet, because the process was frozen.
        if (!isOwned()) ending.abort(new NotOwnerError(group, resource));
        return ending.signal;
      },
      get isOwned() {
        return isOwned();
      },
      assertOwned() {
        if (!isOwned()) throw new NotOwnerError(group, resource);
      },
    };
  }
}
