import type { NodeIdentity } from '../../../core/context/node-identity.js';
import type { RunEntry } from '../history-answers.js';

/** A run that has ended, as it is archived. Plain JSON. */
export interface ArchivedRun extends RunEntry {
  /** Unique. A batch whose outcome is unknown is appended again, with the same ids. */
  readonly id: string;
  /** Duration of the run in ms; 0 for a run that crashed, whose end is not known. */
  readonly took: number;
  /** Stack of the error with which it failed, cut after 2,048 characters. Absent with `history: { stacks: false }`. */
  readonly stack?: string;
}

/**
 * A place that keeps runs for longer than the cluster does. Each node has its own, and archives the runs that it made.
 * One of the living nodes also archives those of nodes that crashed, with the outcome `crashed`.
 * No run waits for it. A call is given up after 10 s; no other call is made until it has ended, except `close()`.
 */
export interface HistoryArchive {
  /**
   * Adds runs. Called by one caller at a time, about each second while runs end.
   *
   * @param entries from 1 to 500, those that ended first come first
   * @throws any error if some were not added; then all are appended again later
   */
  append(entries: readonly ArchivedRun[]): Promise<void>;

  /**
   * Removes some of what is older than the archive keeps. Called every 10 minutes, also while no runs end, and
   * while an append has no answer yet. Optional.
   *
   * @param now cluster time, ms since the epoch
   * @returns whether there may be more to remove: then it is called again a second later
   * @throws any error; it is called again later
   */
  removeOld?(now: number): Promise<boolean>;

  /** Closes only resources that the archive opened itself. Called once, also while another call has no answer. */
  close(): Promise<void>;
}

/** The checked options of `fileHistoryArchive(...)` or `postgresHistoryArchive(...)`, or an archive of your own. */
export interface HistoryArchiveDefinition {
  /** The kind of archive, for messages: "file", "postgres". */
  readonly kind: string;
  /** Creates the archive's object. Does not read or connect yet. @param node the node whose runs it gets */
  open(node: NodeIdentity): HistoryArchive;
}

/** How long the archives of this package keep runs by default: 90 days, in ms. */
export const DEFAULT_KEEP = 90 * 24 * 60 * 60 * 1000;

/** End of a run: cluster time, ms since the epoch. */
export function endOf({ at, took }: ArchivedRun): number {
  return at + took;
}
