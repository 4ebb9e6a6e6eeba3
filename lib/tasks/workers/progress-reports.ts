import { z } from 'zod';
import type { CancelTimer } from '../../core/async/node-clock.js';
import { type Context, timeOf } from '../../core/context/context.js';
import { InvalidOptionsError, faultsOf, lineSchema, onlyFields, show } from '../../core/decision/index.js';
import type { Claim } from '../claim.js';

/** ms after a report within which it is written. So one write serves all reports of this time. */
const WITHIN = 1000;
const LONGEST_NOTE = 200;

const error = ({ input }: { input?: unknown }) => `${show(input)} is not a number from 0 on`;
const amount = z.number({ error }).min(0, { error });
const schema = onlyFields({ done: amount, total: amount, note: lineSchema(LONGEST_NOTE).optional() });

/**
 * The reports of progress of one attempt. Every write of the claim takes the latest one along: a renewal, or the end. If
 * none comes within a second, `write` is called for it.
 */
export class ProgressReports {
  #cancelTimer?: CancelTimer | undefined;
  #isOver = false;

  /** @param write changes the claim; called at most once a second */
  constructor(
    private readonly claim: Claim,
    private readonly context: Pick<Context, 'nodeClock' | 'clusterClock' | 'events'>,
    private readonly write: () => Promise<void>,
  ) {}

  /** @throws InvalidOptionsError */
  report(done: number, total: number, note?: string): void {
    const { data, error: fault } = schema.safeParse({ done, total, ...(note !== undefined && { note }) });
    if (!data) throw new InvalidOptionsError(`the progress of task ${show(this.claim.task.id)}`, faultsOf(fault));
    if (this.#isOver) return;
    this.claim.progress = { done, total, ...(note !== undefined && { note }), at: this.#now };
    this.#cancelTimer ??= this.context.nodeClock.schedule(() => void this.#flush(), WITHIN);
  }

  /** The claim was written. A report that came meanwhile still waits. */
  written(): void {
    if (this.claim.task.progress === this.claim.progress) this.#stop();
  }

  /** Later reports have no effect. The last one is written with the end of the attempt. */
  close(): void {
    this.#isOver = true;
    this.#stop();
  }

  get #now(): number {
    return timeOf(this.context);
  }

  async #flush(): Promise<void> {
    this.#cancelTimer = undefined;
    try {
      await this.write();
    } catch (cause) {
      // The next write of the claim takes it along.
      if (!this.#isOver)
        this.context.events.next({ type: 'problem', action: 'note the progress of a task', error: cause });
    }
  }

  #stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
