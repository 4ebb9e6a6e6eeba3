import type { Subscription } from 'rxjs';
import type { CancelTimer } from '../../async/node-clock.js';
import type { SemaphoreRecord } from '../../decision/index.js';
import type { Context } from '../../context/context.js';
import type { GatekeeperEvent } from '../../context/events.js';
import type { BoundedArchive } from './bounded-archive.js';
import type { ArchivedDefinition } from './definition-archive.js';

/** ms for which changes are gathered: a migration of hundreds of semaphores is a few writes. */
const GATHERING = 250;

const NEWS: ReadonlySet<GatekeeperEvent['type']> = new Set(['changed', 'reinstated', 'restored', 'audited']);

/**
 * Sees to it that what people made of the definitions outlives the cluster's memory, whichever node they did it on: at
 * each change that this node hears of, at each sweep, and a last time when it closes. What nobody changed stands in code.
 */
export class Archivist {
  readonly #subscription: Subscription;
  #cancelTimer?: CancelTimer;
  #saving?: Promise<void>;

  constructor(
    private readonly archive: BoundedArchive,
    private readonly context: Context,
    /** What this node knows of all semaphores. */
    private readonly known: () => ReadonlyMap<string, SemaphoreRecord>,
  ) {
    this.#subscription = context.events.subscribe((event) => this.#hear(event));
  }

  /** Saves what is new, if anything. Never fails: failures are events, and the next sweep tries again. */
  async save(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    // One at a time: the later one has all that the earlier one has.
    await this.#saving;
    this.#saving = this.archive.save([...this.known()].flatMap(([name, record]) => entriesOf(name, record)));
    await this.#saving;
  }

  async close(): Promise<void> {
    this.#subscription.unsubscribe();
    await this.save();
    await this.archive.close();
  }

  #hear({ type }: GatekeeperEvent): void {
    if (NEWS.has(type)) this.#cancelTimer ??= this.context.nodeClock.schedule(() => void this.save(), GATHERING);
  }
}

function entriesOf(name: string, { revision, definition, change, pause }: SemaphoreRecord): ArchivedDefinition[] {
  if (!change && revision === 1) return [];
  return [{ name, revision, ...(definition && { definition }), ...(change && { change }), ...(pause && { pause }) }];
}
