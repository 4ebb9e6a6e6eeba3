import type { StoredRecord } from './record-codec.js';
import type { RecordClient } from './record-client.js';

/** The clients of all records of one kind that this node knows. */
export interface RecordDirectory<R extends StoredRecord> {
  /** @returns undefined if this node has no client of that name */
  find(name: string): RecordClient<R> | undefined;
  all(): Iterable<RecordClient<R>>;
}

/** One kind of records that a sweeper maintains, and its rules. */
export interface SweptRecords<R extends StoredRecord> {
  /** A record's key is this prefix and the record's name. */
  readonly keyPrefix: string;
  readonly directory: RecordDirectory<R>;
  /** Creates a client that the directory does not keep. */
  readonly open: (name: string) => RecordClient<R>;
  /** Whether a loss of the record must be noticed soon, so that this node looks at it each time, and not only in turn. */
  readonly isInUse: (record: R) => boolean;
  /** Whether a record surely needs no work: it has no lease, no operator's change, and needs no claim. */
  readonly isIdle: (name: string, text: string) => boolean;
  /** Writes a record without its expired permits. */
  readonly tidy: (client: RecordClient<R>) => Promise<void>;
  /** Runs at the end of each sweep. */
  readonly swept: () => Promise<void>;
  /** Hears of a change of a record that this node does not know. */
  readonly unknown: (name: string, text: string | undefined) => void;
}
