import { InvalidOptionsError } from '../../../core/decision/index.js';
import type { Cell } from '../../../core/cell/cell.js';
import { type ChangeSetsRecord, type SetHead, nextRoot } from '../change-sets/change-set.js';
import { LONGEST_WINDOWS, type WindowPart } from '../change-sets/window-part.js';

/** Windows that one limited author may have at the same time, and that all limited ones may have. */
export const MOST_LIMITED = { own: 4, all: 16 };

/** An open maintenance window: a change set that is not over before its end. */
export interface StoredWindow extends WindowPart {
  /** Id of its change set. Entries of the audit log share it as `bulk`. */
  readonly id: string;
  readonly reason?: string | undefined;
  readonly by: string;
  /** Cluster time in ms. */
  readonly since: number;
}

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

/** The open windows among all change sets. They are read only when a call needs them. */
export class Windows {
  constructor(private readonly root: Cell<ChangeSetsRecord>) {}

  /** @throws StoreUnavailableError, CorruptRecordError, NewerRecordError */
  read(): Promise<readonly StoredWindow[]> {
    return this.change((windows) => ({ result: windows }));
  }

  /**
   * Changes the windows by compare-and-set. Calls `change` again if another node was faster.
   *
   * @throws InvalidOptionsError if their text would become too long
   * @throws StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  change<T>(change: Change<T>): Promise<T> {
    return this.root.transact<T>((record, view, nonce) => {
      const sets = record?.sets ?? [];
      const { result, windows, done } = change(windowsIn(sets), view.now);
      if (!windows) return { result };
      expectRoom(windows);
      return {
        write: nextRoot(record, withWindows(sets, windows), view, nonce),
        done: () => {
          done?.();
          return result;
        },
        notify: 'none',
      };
    });
  }
}

function windowsIn(sets: readonly SetHead[]): StoredWindow[] {
  return sets.flatMap(({ id, by, reason, at, window }) =>
    window ? [{ id, by, ...(reason !== undefined && { reason }), since: at, ...window }] : [],
  );
}

/** The sets after a change of the windows. Of a window that has ended, the changes stay, for an undo. */
function withWindows(sets: readonly SetHead[], windows: readonly StoredWindow[]): SetHead[] {
  const open = new Map(windows.map((each) => [each.id, each]));
  const former = sets.flatMap(({ window, ...head }): SetHead[] => {
    const next = open.get(head.id);
    open.delete(head.id);
    if (next) return [{ ...head, window: partOf(next) }];
    return window && head.pages.length === 0 ? [] : [head];
  });
  const added = [...open.values()].map((each): SetHead => {
    const { id, by, reason, since: at } = each;
    const start = { id, kind: 'window' as const, by, ...(reason !== undefined && { reason }), at };
    return { ...start, pages: [], window: partOf(each) };
  });
  return [...former, ...added];
}

function partOf({ name, patterns, phase, entries }: StoredWindow): WindowPart {
  return { name, patterns, phase, entries };
}

/** @throws InvalidOptionsError */
function expectRoom(windows: readonly StoredWindow[]): void {
  const bytes = Buffer.byteLength(JSON.stringify(windows));
  if (bytes <= LONGEST_WINDOWS) return;
  throw new InvalidOptionsError('a maintenance window', [
    `all windows together would take ${bytes} bytes, more than ${LONGEST_WINDOWS}: end one, or pause fewer semaphores`,
  ]);
}
