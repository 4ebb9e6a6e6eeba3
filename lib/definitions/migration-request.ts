import { z } from 'zod';
import { nameSchema, patternSchema, onlyFields } from '../decision/index.js';
import { bulkFields, parsedBy } from './bulk-request.js';

import type { HolderState } from '../context/holder-state.js';
import type { NodeIdentity } from '../context/node-identity.js';

/** The change that a migration makes to one definition. */
export interface MigrationStep {
  /** Name of the semaphore. */
  readonly name: string;
  /** The one that it begins from: if another change came first, the step fails. */
  readonly revision: number;
  /** The patterns before. */
  readonly from: Patterns;
  /** The patterns after. */
  readonly to: Patterns;
  /** Holders of a permit that will get none any more. */
  readonly moving: readonly HolderState[];
  /** The living nodes that will be let through. */
  readonly candidates: readonly NodeIdentity[];
  /** `planned` in a plan; afterwards `migrated` or `failed`. */
  readonly outcome: 'planned' | 'migrated' | 'failed';
  /** The error's message. */
  readonly error?: string;
}

/** Patterns of a definition. */
export interface Patterns {
  /** RE2; must match the node's whole group. */
  readonly groupPattern: string;
  /** RE2; must match the acquirer's whole name. */
  readonly acquirerPattern: string;
}

/** Which definitions get which patterns. */
export interface MigrationRequest {
  /** RE2; must match the whole name. Every name unless given. */
  readonly names?: string;
  /** Only those whose present group pattern lets this group through. */
  readonly group?: string;
  /** What is left out stays as it is. */
  readonly to: Partial<Patterns>;
}

/** Options of a migration: its author, the reason, and how many definitions change in one call. */
export interface MigrationOptions {
  /** The author; the node's own acquirer name unless given. */
  readonly by?: string;
  /** Why, for the audit log. */
  readonly reason?: string;
  /** The most that one call changes. All unless given. */
  readonly limit?: number;
  /** Leaves out what it answers false for, as if the store had no such semaphore. */
  readonly only?: (name: string) => boolean;
  /** Gets the number of definitions to change, once, before the first change. If it throws, none is changed, and the call fails with that error. */
  readonly onPlanned?: (count: number) => void;
  /** Called after each step. Must not throw. */
  readonly onProgress?: (progress: MigrationProgress) => void;
}

/** How far a migration has come. */
export interface MigrationProgress {
  /** Steps that are over, well or not, of `total`. */
  readonly done: number;
  /** Number of steps of this migration. */
  readonly total: number;
  /** The one that ended last. */
  readonly step: MigrationStep;
}

const NO_TARGET = 'says neither groupPattern nor acquirerPattern: give one, or both';

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
