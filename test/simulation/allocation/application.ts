import type { Allocated, AllocationChange, AllocationGroup, Ownership } from '../../../lib/allocation/index.js';
import type { Chance } from '../world/chance.js';
import type { SimProcess } from '../machines/sim-process.js';

export interface ApplicationParts {
  readonly process: SimProcess;
  readonly chance: Chance;
  /** ms for which work and callbacks may keep a revoked resource. */
  readonly handoverTimeout: number;
  /** Whether work and callbacks may take longer than that. */
  readonly isSlow: () => boolean;
  readonly group: () => AllocationGroup<string>;
  /** Id of the membership lease that is held now. */
  readonly incarnation: () => string | undefined;
}

/** A resource that the application uses. */
interface Use {
  readonly id: string;
  readonly incarnation: string;
  /** Monotonic ms at which the time for giving it back begins, at the earliest. */
  revokedAt: number;
}

/**
 * The application on a node: it works on its resources, and takes its time to stop. It counts on a resource until its
 * callback or its work has ended, as long as the lease goes on, and at least for the handover timeout. That begins when its
 * node hears of the revocation, which a callback that runs then learns by its signal, when it is over.
 */
export class Application {
  readonly #uses = new Set<Use>();
  /** By resource: as the callback had it. */
  readonly #delivered = new Map<string, Use>();
  /** Runs of work that go on. */
  busy = 0;

  constructor(private readonly parts: ApplicationParts) {}

  /** The resources that it counts on now, with this lease. Only reads the clocks. */
  *inUse(held: string | undefined): Generator<string> {
    const { process, handoverTimeout } = this.parts;
    const now = process.monotonic();
    for (const use of this.#uses) {
      if (use.incarnation === held && now < use.revokedAt + handoverTimeout) yield use.id;
    }
  }

  readonly onAllocated = async (
    _owned: readonly Allocated[],
    { added, revoked, signal }: AllocationChange,
  ): Promise<void> => {
    const group = this.parts.group();
    const ending = revoked.flatMap(({ id }) => this.#delivered.get(id) ?? []);
    for (const use of ending) {
      this.#delivered.delete(use.id);
      use.revokedAt = Math.min(use.revokedAt, this.parts.process.monotonic());
    }
    signal.addEventListener('abort', () => this.#timeIsOver(ending), { once: true });
    for (const { id, token } of added) {
      const isOwned = group.owned().some((each) => each.id === id && each.token === token);
      if (isOwned) this.#deliver(id);
    }
    await this.#pause(this.#callbackTime, signal);
    for (const use of ending) this.#uses.delete(use);
  };

  /** Of what a callback holds, and of what its node has given back without it. */
  #timeIsOver(ending: readonly Use[]): void {
    const owned = new Set(
      this.parts
        .group()
        .owned()
        .map(({ id }) => id),
    );
    const lost = [...this.#delivered.values()].filter(({ id }) => !owned.has(id));
    for (const use of [...ending, ...lost]) use.revokedAt = -Infinity;
  }

  /** Works on a resource, by chance. */
  async work(): Promise<void> {
    const { chance } = this.parts;
    const owned = this.parts.group().owned();
    if (owned.length === 0) return;
    this.busy++;
    try {
      await this.parts.group().run(chance.pick(owned).id, (ownership) => this.#workOn(ownership));
    } finally {
      this.busy--;
    }
  }

  #deliver(id: string): void {
    const former = this.#delivered.get(id);
    if (former) this.#uses.delete(former);
    const use = this.#begin(id);
    if (use) this.#delivered.set(id, use);
  }

  #begin(id: string): Use | undefined {
    const incarnation = this.parts.incarnation();
    if (incarnation === undefined) return undefined;
    const use = { id, incarnation, revokedAt: Infinity };
    this.#uses.add(use);
    return use;
  }

  async #workOn({ resource, signal }: Ownership): Promise<void> {
    const { chance, process } = this.parts;
    const use = this.#begin(resource);
    const revoked = () => use && (use.revokedAt = process.monotonic());
    if (signal.aborted) revoked();
    signal.addEventListener('abort', revoked, { once: true });
    await this.#pause(chance.skewed(5, 4000), signal);
    if (signal.aborted) await this.#pause(this.#stopTime);
    if (use) this.#uses.delete(use);
  }

  get #callbackTime(): number {
    const { chance, handoverTimeout, isSlow } = this.parts;
    return isSlow() && chance.happens(0.3) ? chance.between(0, 1.5 * handoverTimeout) : chance.skewed(0.1, 20);
  }

  /** ms until aborted work ends. */
  get #stopTime(): number {
    return this.#callbackTime;
  }

  /** Waits in the process's own time, or until the signal aborts. */
  #pause(delay: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.parts.process.schedule(resolve, delay);
      const stop = () => {
        cancel();
        resolve();
      };
      if (signal?.aborted) stop();
      signal?.addEventListener('abort', stop, { once: true });
    });
  }
}
