import { z } from 'zod';
import { ALLOCATION_SCOPE } from '../allocation/index.js';
import { LEADER_PREFIX, durationSchema, nameSchema, onlyFields, show } from '../core/decision/index.js';
import { LONGEST_NAME } from '../core/decision/patterns/pattern-cost.js';
import { switchSchema } from '../core/decision/option-types.js';

/** Options of leadership. Durations are ms, or text ("5m", "PT5M"). */
export interface LeadershipOptions {
  /** Whether this node takes part from its start. Default false: `ClusterService.initialize()` begins it later. */
  readonly enabled?: boolean;
  /** Names of the scopes in which this node takes part. The first one is the default scope. Default `['default']`. */
  readonly scopes?: readonly string[];
  /** How long a leader's permit lasts without a refresh: the time until another node leads after a crash. Default 10s. */
  readonly lease?: number | string;
}

/** The scope of nodes that name none. */
export const DEFAULT_SCOPE = 'default';
/** ms */
export const DEFAULT_LEASE = 10_000;
const LONGEST_SCOPE = LONGEST_NAME - LEADER_PREFIX.length;

const scopeSchema = nameSchema.refine(({ length }) => length <= LONGEST_SCOPE, {
  error: ({ input }) => `${show(input)} is longer than ${LONGEST_SCOPE} characters`,
});

const RESERVED = 'is reserved for the scope that divides resources: take another name';

const scopesSchema = z
  .array(scopeSchema, { error: ({ input }) => `${show(input)} is not a list of names` })
  .min(1, 'is empty: give at least one scope')
  .refine((scopes) => new Set(scopes).size === scopes.length, 'has a scope twice')
  .refine((scopes) => !scopes.includes(ALLOCATION_SCOPE), `"${ALLOCATION_SCOPE}" ${RESERVED}`);

/** zod type of {@link LeadershipOptions}. */
export const leadershipSchema = onlyFields({
  enabled: switchSchema.default(false),
  scopes: scopesSchema.default([DEFAULT_SCOPE]),
  lease: durationSchema.default(DEFAULT_LEASE),
});

/** {@link LeadershipOptions} with defaults, durations in ms. */
export type LeadershipSettings = z.output<typeof leadershipSchema>;
