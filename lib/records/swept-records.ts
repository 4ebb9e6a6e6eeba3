import type { StoredRecord } from './record-codec.js';
import type { RecordClient } from './record-client.js';

/** The clients of all records of one kind that this node knows. */
export interface RecordDirectory<R extends StoredRecord> {
  /** @returns undefined while this node has none of that name */
  find(name: string): RecordClient<R> | undefined;
  all(): Iterable<RecordClient<R>>;
}

/** The kind of records that a sweeper looks after, and the work that goes with it. */
export interface SweptRecords<R extends StoredRecord> {
  /** Keys of the records begin with it, and end with the name. */
  readonly keyPrefix: string;
  readonly directory: RecordDirectory<R>;
  /** Makes a client that the directory does not keep. */
  readonly open: (name: string) => RecordClient<R>;
  /** Whether this node looks at the record each time, because it holds something in it. */
  readonly isHeldHere: (record: R) => boolean;
  /** Whether a record surely needs no care: no lease that can end, no change by an operator, no claim to be made. */
  readonly isIdle: (name: string, text: string) => boolean;
  /** Writes a record without what expired in it. */
  readonly tidy: (client: RecordClient<R>) => Promise<void>;
  /** Runs at the end of each sweep. */
  readonly swept: () => Promise<void>;
  /** Hears of a change of a record that this node does not know. */
  readonly unknown: (name: string, text: string | undefined) => void;
}
