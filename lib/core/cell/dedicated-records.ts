import { checkedName } from '../decision/index.js';
import type { Context } from '../context/context.js';
import { type DedicatedCell, type SemaphoreChanged, semaphoreCell } from './semaphore-records.js';

interface Listener {
  changed(name: string, change: SemaphoreChanged): void;
  confirmed(name: string): void;
}

/**
 * Cells of all semaphores with their own records that this node knows: names that code defines, here or elsewhere.
 */
export class DedicatedRecords {
  readonly #cells = new Map<string, DedicatedCell>();

  /** @param listener hears of each change, with the semaphore's name */
  constructor(
    private readonly context: Context,
    private readonly listener: Listener,
  ) {}

  find(name: string): DedicatedCell | undefined {
    return this.#cells.get(name);
  }

  all(): Iterable<DedicatedCell> {
    return [...this.#cells.values()];
  }

  /** Returns the cell of a name; creates it if needed. @throws InvalidOptionsError if the name is invalid */
  of(name: string): DedicatedCell {
    const known = this.#cells.get(name);
    if (known) return known;
    const cell = semaphoreCell(checkedName(name), this.context);
    cell.listen({
      changed: (change) => this.listener.changed(name, change),
      confirmed: () => this.listener.confirmed(name),
    });
    this.#cells.set(name, cell);
    return cell;
  }
}
