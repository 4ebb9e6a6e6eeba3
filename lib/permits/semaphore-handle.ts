import type { AcquireOptions, AcquireWaitOptions, RunOptions } from './call-options.js';
import type { Explanation } from './explanation.js';
import type { Permit } from './permit.js';
import type { RunPermit } from './runs/run-permit.js';
import type { RunResult } from './runs/runner.js';
import type { Semaphore } from './semaphore.js';
import type { NodeSemaphore } from './node-semaphore.js';

/** The semaphores that this node uses, at most one of each name. */
interface SemaphoresInUse {
  visit<T>(name: string, work: (semaphore: NodeSemaphore) => Promise<T>): Promise<T>;
  peek(name: string): NodeSemaphore;
}

/**
 * A semaphore as the application keeps it, for as long as it likes. Each call finds the semaphore in use anew: two of one
 * name at a time would not know of one another's leases, and one that is kept for each name would fill the memory.
 */
export class SemaphoreHandle implements Semaphore {
  constructor(
    readonly name: string,
    private readonly directory: SemaphoresInUse,
  ) {}

  tryAcquire(options?: AcquireOptions): Promise<Permit | undefined> {
    return this.directory.visit(this.name, (semaphore) => semaphore.tryAcquire(options));
  }

  acquire(options?: AcquireWaitOptions): Promise<Permit> {
    return this.directory.visit(this.name, (semaphore) => semaphore.acquire(options));
  }

  refresh(permit: Permit, options?: { duration?: number | string }): Promise<boolean> {
    return permit.refresh(options);
  }

  release(permit: Permit): Promise<void> {
    return permit.release();
  }

  getExpirationPeriod(permit: Permit): number {
    return permit.remaining;
  }

  run<T>(work: (permit: RunPermit) => T | Promise<T>, options?: RunOptions): Promise<RunResult<T>> {
    return this.directory.visit(this.name, (semaphore) => semaphore.run(work, options));
  }

  explain(): Promise<Explanation> {
    return this.directory.peek(this.name).explain();
  }
}
