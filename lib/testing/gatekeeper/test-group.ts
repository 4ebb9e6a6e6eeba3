import { BehaviorSubject, type Observable } from 'rxjs';
import { SerialExecutor } from '../../core/async/serial-executor.js';
import type {
  Allocated,
  AllocationGroup,
  AllocationListener,
  AllocationPlan,
  GroupOverview,
  OwnerRun,
  Ownership,
  PastMoves,
} from '../../allocation/index.js';
import { OwnerWork } from '../../allocation/node/owner-work.js';

const NO_PLAN: AllocationPlan = { moves: [], homeless: 0, shares: [], sentences: [] };
const INCARNATION = 'test';

/** An allocation group of a {@link TestGatekeeper}: the test decides what this node owns. It has no owner map. */
export class TestGroup<T = unknown> implements AllocationGroup<T> {
  readonly unowned = undefined;
  readonly #listeners = new Set<AllocationListener<T>>();
  /** Those that have had no call yet. */
  readonly #fresh = new Set<AllocationListener<T>>();
  readonly #ownedChanges = new BehaviorSubject<readonly Allocated<T>[]>([]);
  readonly #queue = new SerialExecutor();
  /** Errors of first calls, which the next {@link own} throws. */
  readonly #errors: unknown[] = [];
  readonly #share = { owned: new Map<string, number>(), isHeld: true, incarnation: INCARNATION };
  readonly #work: OwnerWork;
  #owned: readonly Allocated<T>[] = [];
  #token = 0;

  constructor(
    readonly name: string,
    private readonly node: string,
  ) {
    this.#work = new OwnerWork(name, this.#share);
  }

  owned(): readonly Allocated<T>[] {
    return this.#owned;
  }

  get owned$(): Observable<readonly Allocated<T>[]> {
    return this.#ownedChanges.asObservable();
  }

  owns(id: string): boolean {
    return this.#share.owned.has(id);
  }

  run<R>(id: string, work: (ownership: Ownership) => R | Promise<R>): Promise<OwnerRun<R>> {
    return this.#work.run(id, work);
  }

  /** The first call has everything that the node owns. */
  onAllocated(listener: AllocationListener<T>): void {
    this.#fresh.add(listener);
    if (this.#owned.length === 0) return;
    void this.#queue.run(() => this.#call([], [])).catch((error: unknown) => this.#errors.push(error));
  }

  /**
   * Resolves when the callbacks, and the work on revoked resources, have ended. One call runs after the other.
   *
   * @throws any error of a callback
   */
  own(resources: ReadonlyMap<string, T | undefined>): Promise<void> {
    return this.#queue.run(() => this.#change(resources));
  }

  /** Gives everything back. @throws any error of a callback */
  async close(): Promise<void> {
    await this.own(new Map());
    this.#ownedChanges.complete();
  }

  async #change(resources: ReadonlyMap<string, T | undefined>): Promise<void> {
    const former = this.#owned;
    const isNew = (id: string) => !former.some((each) => each.id === id);
    const token = ++this.#token;
    const kept = former.filter(({ id }) => resources.has(id));
    const added = [...resources].filter(([id]) => isNew(id)).map(([id, resource]) => ({ id, token, resource }));
    const revoked = former.filter(({ id }) => !resources.has(id));
    this.#owned = [...kept.map((each) => ({ ...each, resource: resources.get(each.id) })), ...added];
    this.#share.owned = new Map(this.#owned.map((each) => [each.id, each.token]));
    this.#work.abort(token);
    const [error] = this.#errors.splice(0);
    if (error !== undefined) throw error;
    if (added.length + revoked.length === 0) return;
    this.#ownedChanges.next(this.#owned);
    await this.#call(added, revoked);
  }

  async #call(added: readonly Allocated<T>[], revoked: readonly Allocated<T>[]): Promise<void> {
    const { signal } = new AbortController();
    const owned = this.#owned;
    const known = added.length + revoked.length > 0 ? [...this.#listeners] : [];
    const fresh = owned.length > 0 ? [...this.#fresh] : [];
    for (const listener of fresh) {
      this.#fresh.delete(listener);
      this.#listeners.add(listener);
    }
    const calls = [
      ...known.map(async (listener) => listener(owned, { added, revoked, signal })),
      ...fresh.map(async (listener) => listener(owned, { added: owned, revoked: [], signal })),
    ];
    await Promise.all([...calls, ...this.#work.aborted.map(({ done }) => done)]);
  }

  async overview(): Promise<GroupOverview> {
    const resources = this.#owned.map(({ id, token }) => ({ id, token, node: this.node, instance: INCARNATION }));
    const { length: owned } = resources;
    const nodes = [{ node: this.node, incarnation: INCARNATION, weight: 1, owned, isDrained: false }];
    return { name: this.name, isRecovering: false, resources, nodes, pins: [], drained: [], faults: [] };
  }

  async plan(): Promise<AllocationPlan> {
    return NO_PLAN;
  }

  async moves(): Promise<PastMoves> {
    return { changes: [], unnamed: 0 };
  }

  async rebalance(): Promise<void> {}
  async confirmResources(): Promise<boolean> {
    return false;
  }
  async pin(): Promise<boolean> {
    return true;
  }
  async unpin(): Promise<boolean> {
    return true;
  }
  async drain(): Promise<boolean> {
    return true;
  }
  async undrain(): Promise<boolean> {
    return true;
  }
}
