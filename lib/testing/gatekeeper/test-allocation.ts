import {
  Allocation,
  type AllocationGroup,
  type AllocationListener,
  type AllocationParts,
  type GroupSettings,
} from '../../allocation/index.js';
import { TestGroup } from './test-group.js';

/** The allocation groups of a {@link TestGatekeeper}. A group exists as soon as it is used. */
export class TestAllocation extends Allocation {
  readonly #groups = new Map<string, TestGroup>();

  constructor(
    parts: AllocationParts,
    private readonly node: string,
  ) {
    super(parts);
  }

  override get groups(): readonly AllocationGroup[] {
    return [...this.#groups.values()];
  }

  override group<T>(name: string): AllocationGroup<T> {
    return this.testGroup(name) as AllocationGroup as AllocationGroup<T>;
  }

  override add(name: string, { onAllocated }: GroupSettings): AllocationGroup {
    const group = this.testGroup(name);
    if (onAllocated) group.onAllocated(onAllocated as AllocationListener);
    return group;
  }

  testGroup(name: string): TestGroup {
    const group = this.#groups.get(name) ?? new TestGroup(name, this.node);
    this.#groups.set(name, group);
    return group;
  }

  override startWithFirst(): void {}
  override async start(): Promise<void> {}

  override async close(): Promise<void> {
    await Promise.all([...this.#groups.values()].map((group) => group.close()));
  }
}
