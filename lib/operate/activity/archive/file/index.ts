import * as files from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import {
  InvalidOptionsError,
  faultsOf,
  isOneLine,
  keepingSchema,
  onlyFields,
  show,
} from '../../../../core/decision/index.js';
import { DEFAULT_KEEP, type HistoryArchiveDefinition } from '../history-archive.js';
import { FileHistoryArchive } from './file-history-archive.js';

const MIB = 1024 * 1024;
/** A part of a day is an eighth of this, and must have room for one batch. */
const LEAST_BYTES = 8 * MIB;

/** Options of `fileHistoryArchive(...)`. */
export interface FileHistoryOptions {
  /** The folder, relative to the working directory, or absolute. Created if it is missing. */
  readonly folder: string;
  /** How long a day's files are kept after its end, ms or text. At most ten years. Default "90d". */
  readonly keep?: number | string;
  /** The most bytes of all files together; the oldest are removed first. At least 8 MiB. Default 1 GiB. */
  readonly maxBytes?: number;
}

const schema = onlyFields({
  folder: z.string({ error: ({ input }) => NO_FOLDER(input) }).refine((path) => path !== '' && isOneLine(path), {
    error: ({ input }) => NO_FOLDER(input),
  }),
  keep: keepingSchema.default(DEFAULT_KEEP),
  maxBytes: z
    .int({ error: ({ input }) => `${show(input)} is not a whole number of bytes` })
    .min(LEAST_BYTES, { error: ({ input }) => `${show(input)} is less than ${LEAST_BYTES} bytes (8 MiB)` })
    .default(1024 * MIB),
});

const NO_FOLDER = (input: unknown) => `${show(input)} is no path of a folder: give './gatekeeper-runs'`;

/**
 * Keeps the runs of this node in files of a folder: JSON lines, one file for each day (UTC) and process, such as
 * "runs-2026-11-25-0f3a….jsonl". For the option `history: { archive }`. Several processes of one host may share the folder.
 *
 * @throws InvalidOptionsError listing every fault
 */
export function fileHistoryArchive(options: FileHistoryOptions): HistoryArchiveDefinition {
  const parsed = schema.safeParse(options);
  if (!parsed.success) throw new InvalidOptionsError("fileHistoryArchive()'s options", faultsOf(parsed.error));
  const { folder, ...limits } = parsed.data;
  return {
    kind: 'file',
    open: ({ instance }) => new FileHistoryArchive({ folder: resolve(folder), instance, ...limits }, files),
  };
}
