import { type Observable, ReplaySubject } from 'rxjs';
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

const NO_PLAN: AllocationPlan = { moves: [], shares: [], sentences: [] };
const INCARNATION = 'test';

/** An allocation group of a {@link TestGatekeeper}: the test decides what this node owns. It has no owner map. */
export class TestGroup<T = unknown> implements AllocationGroup<T> {
  readonly unowned = undefined;
  readonly #listeners = new Set<AllocationListener<T>>();
  readonly #ownedChanges = new ReplaySubject<readonly Allocated<T>[]>(1);
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

  onAllocated(listener: AllocationListener<T>): void {
    this.#listeners.add(listener);
  }

  /** Resolves when the callbacks, and the work on revoked resources, have ended. @throws any error of a callback */
  async own(resources: ReadonlyMap<string, T | undefined>): Promise<void> {
    const former = this.#owned;
    const isNew = (id: string) => !former.some((each) => each.id === id);
    const token = ++this.#token;
    const kept = former.filter(({ id }) => resources.has(id));
    const added = [...resources].filter(([id]) => isNew(id)).map(([id, resource]) => ({ id, token, resource }));
    const revoked = former.filter(({ id }) => !resources.has(id));
    this.#owned = [...kept, ...added];
    this.#share.owned = new Map(this.#owned.map((each) => [each.id, each.token]));
    this.#work.abort();
    if (added.length + revoked.length === 0) return;
    this.#ownedChanges.next(this.#owned);
    const change = { added, revoked, signal: new AbortController().signal };
    const calls = [...this.#listeners].map(async (listener) => listener(this.#owned, change));
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
  async pin(): Promise<void> {}
  async unpin(): Promise<void> {}
  async drain(): Promise<void> {}
  async undrain(): Promise<void> {}
}
