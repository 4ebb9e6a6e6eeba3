import { Inject, Injectable, Logger } from '@nestjs/common';
import { type Allocation, type AllocationListener, UnknownGroupError } from '../allocation/index.js';
import { InvalidOptionsError } from '../core/decision/index.js';
import { type Gatekeeper, isMock, partsOf } from '../gatekeeper/index.js';
import { ALLOCATED_RESOURCES } from './allocated-resources.decorator.js';
import { NOT_TOLD } from './messages.js';
import { type DecoratedMethod, DecoratedMethods } from './decorated-methods.js';
import { GatekeeperService } from './gatekeeper.service.js';
import { Lifecycle } from './lifecycle.module.js';

/**
 * Connects the methods that follow what this node owns, and begins to take part in the groups when the application has
 * booted, so that no resource is owned before.
 */
@Injectable()
export class AllocationExplorer {
  readonly #logger = new Logger('Gatekeeper');

  constructor(
    @Inject(DecoratedMethods) private readonly decorated: DecoratedMethods,
    @Inject(GatekeeperService) private readonly gatekeeper: Gatekeeper,
    @Inject(Lifecycle) lifecycle: Lifecycle,
  ) {
    // Not in a hook of its own: parts of the application may add groups in theirs, which come later.
    lifecycle.beforeBegin(() => this.#connectAll());
    void lifecycle.afterBoot(() => this.#begin());
  }

  /** @throws InvalidOptionsError listing every method with an unknown group */
  #connectAll(): void {
    if (isMock(this.gatekeeper)) return;
    const { allocation } = partsOf(this.gatekeeper);
    const methods = this.decorated.find<readonly string[]>(ALLOCATED_RESOURCES);
    const faults = methods.flatMap((method) => faultsOf(method, allocation));
    if (faults.length > 0) throw new InvalidOptionsError('@AllocatedResources', [...new Set(faults)]);
    for (const method of methods) this.#connect(method, allocation);
  }

  async #begin(): Promise<void> {
    if (isMock(this.gatekeeper)) return;
    const { allocation } = partsOf(this.gatekeeper);
    if (allocation.groups.length > 0) await allocation.start();
    else allocation.startWithFirst();
  }

  #connect(
    { method, property, instance, isStatic, metadata }: DecoratedMethod<readonly string[]>,
    allocation: Allocation,
  ): void {
    if (!isStatic || !instance) return this.#logger.warn(NOT_TOLD(method));
    const listener: AllocationListener = (owned, change) =>
      (instance as Record<string, AllocationListener>)[property]!(owned, change);
    for (const group of metadata) allocation.group(group).onAllocated(listener);
  }
}

function faultsOf({ method, metadata }: DecoratedMethod<readonly string[]>, allocation: Allocation): string[] {
  return metadata.flatMap((group) => {
    try {
      allocation.group(group);
      return [];
    } catch (error) {
      if (error instanceof UnknownGroupError) return [`${method}: ${error.message}`];
      throw error;
    }
  });
}
