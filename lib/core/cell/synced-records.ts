import type { StoredRecord } from './record-codec.js';
import type { Cell } from './cell.js';

/** The cells of all records of one kind that this node knows. */
interface RecordDirectory<R extends StoredRecord> {
  /** @returns undefined if this node has no cell of that name */
  find(name: string): Cell<R> | undefined;
  all(): Iterable<Cell<R>>;
}

/** One kind of records that each node keeps up to date, and its rules. */
export interface SyncedRecords<R extends StoredRecord> {
  /** A record's key is this prefix and the record's name. */
  readonly keyPrefix: string;
  readonly directory: RecordDirectory<R>;
  /** Creates a cell that the directory does not keep. */
  readonly open: (name: string) => Cell<R>;
  /** Whether a loss of the record must be noticed soon, so that this node looks at it each time, and not only in turn. */
  readonly isInUse: (record: R) => boolean;
  /** Whether a record surely needs no work: it has no lease, no operator's change, and needs no claim. */
  readonly isIdle: (name: string, text: string) => boolean;
  /** Writes a record without its expired permits. */
  readonly tidy: (cell: Cell<R>) => Promise<void>;
  /** Runs at the end of each sweep. */
  readonly swept: () => Promise<void>;
  /** Hears of a change of a record that this node does not know. */
  readonly unknown: (name: string, text: string | undefined) => void;
}
