import { InvalidOptionsError } from '../../../core/decision/index.js';
import type { Context } from '../../../core/context/context.js';
import { Cell } from '../../../core/cell/cell.js';
import { LONGEST_WINDOWS, type StoredWindow, WINDOWS, type WindowsRecord, nextWindows } from './windows-record.js';

/** Returns the windows after a change, and the result. Without `windows` nothing is written. */
type Change<T> = (
  windows: readonly StoredWindow[],
  now: number,
) => {
  readonly result: T;
  readonly windows?: readonly StoredWindow[];
  /** Called once when it is written. */
  readonly done?: () => void;
};

/** The record of all maintenance windows. It is read only when a call needs it. */
export class Windows {
  readonly #cell: Cell<WindowsRecord>;

  constructor(context: Context) {
    this.#cell = new Cell('windows', WINDOWS, context);
  }

  /** @throws StoreUnavailableError, CorruptRecordError, NewerRecordError */
  read(): Promise<readonly StoredWindow[]> {
    return this.change((windows) => ({ result: windows }));
  }

  /**
   * Changes the record by compare-and-set. Calls `change` again if another node was faster.
   *
   * @throws InvalidOptionsError if the record would become too long
   * @throws StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  change<T>(change: Change<T>): Promise<T> {
    return this.#cell.transact<T>((record, view, nonce) => {
      const { result, windows, done } = change(record?.windows ?? [], view.now);
      if (!windows) return { result };
      const write = nextWindows(record, windows, view, nonce);
      expectRoom(write);
      return {
        write,
        done: () => {
          done?.();
          return result;
        },
      };
    });
  }
}

/** @throws InvalidOptionsError */
function expectRoom(record: WindowsRecord): void {
  const bytes = Buffer.byteLength(WINDOWS.encode(record));
  if (bytes <= LONGEST_WINDOWS) return;
  throw new InvalidOptionsError('a maintenance window', [
    `all windows together would take ${bytes} bytes, more than ${LONGEST_WINDOWS}: end one, or pause fewer semaphores`,
  ]);
}
