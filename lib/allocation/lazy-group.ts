import { type Observable, ReplaySubject, concat, defer, filter, of, switchMap } from 'rxjs';
import { LazyCode } from '../core/async/lazy-code.js';
import type { AllocationGroup, ConfirmedSet } from './allocation-group.js';
import type { Allocated, AllocationListener } from './group-options.js';
import type { AllocationPlan } from './answers.js';
import type { GroupOverview } from './group-overview.js';
import type { PastMoves } from './moves/move-answers.js';
import type { MovesQuery } from './moves/past-moves.js';
import type { OwnerRun, Ownership } from './node/owner-work.js';
import type { LocalGroup } from './local-group.js';
import type { PlanRequest } from './plan.js';
import type { GroupFault } from './unowned-alarm.js';

export type GroupCode = Pick<typeof import('./local-group.js'), 'LocalGroup'>;

/** The code of groups. */
export const groupCode = new LazyCode(() => import('./local-group.js'));

/**
 * A group as the application has it, which may be before the code of groups is loaded. Until then the node owns nothing,
 * and calls wait.
 */
export class LazyGroup<T = unknown> implements AllocationGroup<T> {
  readonly #opened = new ReplaySubject<LocalGroup>(1);
  /** Those that wait for the code. */
  readonly #listeners: AllocationListener[] = [];
  #own?: LocalGroup;
  #isClosed = false;

  constructor(
    readonly name: string,
    private readonly make: (code: GroupCode) => LocalGroup,
    /** Called once, when the code is loaded. */
    private readonly onOpen: (own: LocalGroup) => void,
  ) {}

  /** This node's part of the group; undefined while the code is not loaded. */
  get own(): LocalGroup | undefined {
    return this.#own;
  }

  /** Loads the code. Starts nothing. Idempotent. */
  async open(): Promise<LocalGroup> {
    return this.#open(await groupCode.load());
  }

  owned(): readonly Allocated<T>[] {
    return (this.#own?.owned() ?? []) as readonly Allocated<T>[];
  }

  get owned$(): Observable<readonly Allocated<T>[]> {
    const owned$ = defer(() => this.#own?.owned$ ?? concat(of([]), this.#ownedLater));
    return owned$ as Observable<readonly Allocated<T>[]>;
  }

  owns(id: string): boolean {
    return this.#own?.owns(id) ?? false;
  }

  run<R>(id: string, work: (ownership: Ownership) => R | Promise<R>): Promise<OwnerRun<R>> {
    return this.#call(({ work: running }) => running.run(id, work));
  }

  onAllocated(listener: AllocationListener<T>): void {
    if (this.#own) this.#own.delivery.on(listener as AllocationListener);
    else this.#listeners.push(listener as AllocationListener);
  }

  rebalance(): Promise<void> {
    return this.#call((own) => own.rebalance());
  }

  confirmResources(set?: ConfirmedSet): Promise<boolean> {
    return this.#call((own) => own.confirmResources(set));
  }

  pin(id: string, node: string): Promise<boolean> {
    return this.#call(({ orders }) => orders.pin(id, node));
  }

  unpin(id: string): Promise<boolean> {
    return this.#call(({ orders }) => orders.unpin(id));
  }

  drain(node: string): Promise<boolean> {
    return this.#call(({ orders }) => orders.drain(node));
  }

  undrain(node: string): Promise<boolean> {
    return this.#call(({ orders }) => orders.undrain(node));
  }

  plan(change?: PlanRequest): Promise<AllocationPlan> {
    return this.#call((own) => own.plan(change));
  }

  /** @param look see {@link LocalGroup.overview} */
  overview(look?: () => Promise<unknown>): Promise<GroupOverview> {
    return this.#call((own) => own.overview(look));
  }

  moves(query?: MovesQuery): Promise<PastMoves> {
    return this.#call((own) => own.moves(query));
  }

  get unowned(): GroupFault | undefined {
    return this.#own?.unowned;
  }

  /** Gives everything back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#opened.complete();
    await this.#own?.close();
  }

  /** Also errors of checks, which are thrown at once, reject. */
  async #call<R>(call: (own: LocalGroup) => Promise<R>): Promise<R> {
    return call(this.#own ?? (await this.open()));
  }

  #open(code: GroupCode): LocalGroup {
    if (this.#own) return this.#own;
    const own = this.make(code);
    this.#own = own;
    for (const listener of this.#listeners.splice(0)) own.delivery.on(listener);
    this.#opened.next(own);
    if (this.#isClosed) void own.close();
    else this.onOpen(own);
    return own;
  }

  /** Without the first value, which is that nothing is owned. */
  get #ownedLater(): Observable<readonly Allocated[]> {
    const owned = this.#opened.pipe(switchMap((own) => own.owned$));
    return owned.pipe(filter((list, index) => index > 0 || list.length > 0));
  }
}
