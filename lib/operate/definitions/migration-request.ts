import { z } from 'zod';
import { nameSchema, patternSchema, onlyFields } from '../../core/decision/index.js';
import { bulkFields, parsedBy } from './bulk-request.js';
import type { MigrationStep, Patterns } from './answers.js';

/** Selects definitions, and gives their new patterns. */
export interface MigrationRequest {
  /** RE2; must match the whole name. Default: every name. */
  readonly names?: string;
  /** Only definitions whose current group pattern matches this group. */
  readonly group?: string;
  /** Patterns that are not given stay unchanged. */
  readonly to: Partial<Patterns>;
}

/** Options of a migration: its author, the reason, and how many definitions change in one call. */
export interface MigrationOptions {
  /** The author. Default: the node's own acquirer name. */
  readonly by?: string;
  /** Why, for the audit log. */
  readonly reason?: string;
  /** Largest number of changes in one call. Default: no limit. */
  readonly limit?: number;
  /** Filter: a semaphore for which it returns false is skipped, as if the store did not have it. */
  readonly only?: (name: string) => boolean;
  /**
   * Called once before the first change, with the number of changes. If it throws, nothing is changed, and the call
   * fails with this error.
   */
  readonly onPlanned?: (count: number) => void;
  /** `bulk` of the result before, if this call continues a migration. Default: a new id. */
  readonly bulk?: string;
  /** Called after each step. Must not throw. */
  readonly onProgress?: (progress: MigrationProgress) => void;
}

/** Progress of a migration. */
export interface MigrationProgress {
  /** Finished steps, successful or failed, of `total`. */
  readonly done: number;
  /** Number of steps of this migration. */
  readonly total: number;
  /** The step that ended last. */
  readonly step: MigrationStep;
}

const NO_TARGET = 'has neither groupPattern nor acquirerPattern: give one, or both';

const requestSchema = onlyFields({
  names: bulkFields.names,
  group: nameSchema.optional(),
  to: onlyFields({ groupPattern: patternSchema.optional(), acquirerPattern: patternSchema.optional() }).refine(
    ({ groupPattern, acquirerPattern }) => groupPattern !== undefined || acquirerPattern !== undefined,
    {
      error: NO_TARGET,
    },
  ),
});

const optionsSchema = onlyFields({
  by: bulkFields.by,
  reason: bulkFields.reason,
  limit: bulkFields.limit,
  only: bulkFields.only,
  onPlanned: bulkFields.onPlanned,
  bulk: bulkFields.bulk,
  onProgress: z.custom<MigrationOptions['onProgress']>((value) => typeof value === 'function').optional(),
});

/** @throws InvalidOptionsError */
export function parseMigrationRequest(request: MigrationRequest): MigrationRequest {
  return parsedBy(requestSchema, 'a migration', request);
}

/** @throws InvalidOptionsError */
export function parseMigrationOptions(options: MigrationOptions): MigrationOptions {
  return parsedBy(optionsSchema, 'a migration', options);
}
