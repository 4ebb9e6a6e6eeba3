import { z } from 'zod';
import {
  type View,
  decodeStored,
  lacksWrites,
  storedCount,
  storedList,
  storedText,
  storedTime,
} from '../../../core/decision/index.js';
import type { RecordCodec, StoredRecord } from '../../../core/cell/record-codec.js';

/**
 * A semaphore that a window has paused, or is about to pause: its name, its revision after the pause, and the id of the
 * pause. The pause is the window's as long as it is the last change of the semaphore's definition.
 */
export type WindowEntry = readonly [name: string, revision: number, change: string];

/** Phases of a window. `starting` and `ending`: the command was not carried out completely yet. */
export const PHASES = ['starting', 'on', 'ending'] as const;

/** A maintenance window as the store keeps it. */
export interface StoredWindow {
  /** Unique. Entries of the audit log share it as `bulk`. */
  readonly id: string;
  readonly name: string;
  /** RE2; each must match the whole name. */
  readonly patterns: readonly string[];
  readonly reason?: string | undefined;
  readonly by: string;
  /** Cluster time in ms. */
  readonly since: number;
  readonly phase: (typeof PHASES)[number];
  readonly entries: readonly WindowEntry[];
}

/**
 * All maintenance windows of the cluster: one text under one key, so that one compare-and-set decides which window lets
 * go of a semaphore that two of them want.
 *
 *     { "v": 1, "nonce": "3w5e.1f", "seq": 3, "at": 1790000000000, "windows": [
 *       { "id": "3w5e.1a", "name": "db", "patterns": ["report|export-.*"], "reason": "the database moves",
 *         "by": "ann", "since": 1790000000000, "phase": "on", "entries": [["report", 4, "3w5e.1b"]] } ] }
 */
export interface WindowsRecord extends StoredRecord {
  readonly v: typeof WINDOWS_VERSION;
  readonly windows: readonly StoredWindow[];
}

const WINDOWS_VERSION = 1;
/** Windows at the same time. */
export const MOST_WINDOWS = 20;
/** Windows that one limited author may have at the same time, and that all limited ones may have. */
export const MOST_LIMITED = { own: 4, all: 16 };
/** Patterns of one window. */
export const MOST_PATTERNS = 20;
/** Longest text of the record, in bytes: about 15,000 paused semaphores. `remote()` sends two of them in 2 MiB. */
export const LONGEST_WINDOWS = 800_000;
const LONGEST_STORED_PATTERN = 5000;

const windowSchema = z.strictObject({
  id: storedText.min(1),
  name: storedText.min(1),
  patterns: storedList(z.string().max(LONGEST_STORED_PATTERN), MOST_PATTERNS),
  reason: storedText.optional(),
  by: storedText,
  since: storedTime,
  phase: z.enum(PHASES),
  entries: storedList(z.tuple([storedText.min(1), storedCount, storedText.min(1)]), LONGEST_WINDOWS / 10),
});

const windowsSchema = z.strictObject({
  v: z.literal(WINDOWS_VERSION),
  nonce: z.string().min(1),
  seq: storedCount,
  at: storedTime,
  windows: storedList(windowSchema, MOST_WINDOWS),
});

const NONE: WindowsRecord = { v: WINDOWS_VERSION, nonce: '', seq: 0, at: 0, windows: [] };

/** The storage format of the windows, and the rules for lost data: the copy with the most writes counts. */
export const WINDOWS: RecordCodec<WindowsRecord> = {
  kind: 'the record of maintenance',
  keyPrefix: 'maintenance:',
  decode: (_, text) => decodeStored(windowsSchema, WINDOWS_VERSION, 'the maintenance windows', text),
  encode: (record) => JSON.stringify(record),
  isBehind: lacksWrites,
  restore: (known, found, view, nonce) =>
    nextWindows({ ...known, seq: Math.max(known.seq, found?.seq ?? 0) }, known.windows, view, nonce),
  rewrite: (record, view, nonce) => nextWindows(record, record.windows, view, nonce),
  leases: () => [],
};

/** The record after a change. */
export function nextWindows(
  record: WindowsRecord | undefined,
  windows: readonly StoredWindow[],
  view: View,
  nonce: string,
): WindowsRecord {
  const { seq } = record ?? NONE;
  return { v: WINDOWS_VERSION, nonce, seq: seq + 1, at: view.now, windows };
}
