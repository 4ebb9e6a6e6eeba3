import { hostname } from 'node:os';
import { z } from 'zod';
import {
  InvalidOptionsError,
  type SemaphoreDefinitionInput,
  definitionSchema,
  durationFault,
  durationSchema,
  faultsOf,
  nameSchema,
  show,
  onlyFields,
  reservedNameFault,
} from '../decision/index.js';
import type { StoreDefinition } from '../stores/index.js';
import type { Persistence } from '../definitions/archive/definition-archive.js';
import { delaySchema, switchSchema } from '../decision/option-types.js';

/** Options of `GatekeeperModule.forRoot`. Durations are ms, or text as the `ms` package reads it. */
export interface GatekeeperOptions {
  /** Where records live: `hazelcast({...})`, `memory()` or `remote({...})`. */
  readonly store: StoreDefinition;
  /** The node's zone or environment, for group patterns. Default "default". */
  readonly group?: string;
  /** The node's name, for acquirer patterns. Default: the host's name. */
  readonly acquirer?: string;
  /** The semaphores that this node's code defines. Default: none. */
  readonly definitions?: readonly SemaphoreDefinitionInput[];
  /** Only semaphores listed in `definitions` exist: a decorator's duration makes none. Default false. */
  readonly requireDefinitions?: boolean;
  /** How long after the start missing definitions are put into the store. Default 5s; `memory()` has them at once. */
  readonly definitionsDelay?: number | string;
  /** How often every semaphore's state is logged, a line each; never unless given. */
  readonly stateDump?: number | string;
  /** How far clocks may be apart. Every duration must be more than three times as long. Default 500ms. */
  readonly clockTolerance?: number | string;
  /** The longest that one call may ask the store. Default 2s. */
  readonly callTimeout?: number | string;
  /** How often this node looks at its records and for expired permits; at most 5 minutes count. Default 10s. */
  readonly sweepInterval?: number | string;
  /** How often this node tells the others that it lives and what it does; 0: never. Default 10s. */
  readonly heartbeat?: number | string;
  /** Whether runs are noted in the cluster's journal. Default true. */
  readonly history?: boolean;
  /** Where definitions outlive the cluster's memory: `fileArchive('...')` or `postgresArchive({...})`. Default: nowhere. */
  readonly persistence?: Persistence;
  /** The application's version, shown to operators. */
  readonly version?: string;
  /** How long runs may go on at shutdown. Default 10s. */
  readonly shutdownGrace?: number | string;
  /** Take nothing over before having watched for one duration: closes the hole of a node without history. */
  readonly strictStart?: boolean;
}

/** ms */
const CLOCK_TOLERANCE = 500;

const isPersistence = (value: unknown) =>
  value === undefined || typeof (value as Persistence | null)?.open === 'function';
const isStore = (value: unknown) => typeof (value as StoreDefinition | undefined)?.open === 'function';

const optionsSchema = onlyFields({
  store: z.custom<StoreDefinition>(isStore, {
    error: ({ input }) =>
      `${input === undefined ? 'is missing' : `${show(input)} is no store`}: give hazelcast({ clusterName, members }), remote({ url, token }) or memory()`,
  }),
  group: nameSchema.default('default'),
  acquirer: nameSchema.default(() => hostname()),
  definitions: z
    .array(definitionSchema, { error: ({ input }) => `${show(input)} is not a list of definitions` })
    .default([]),
  requireDefinitions: switchSchema.default(false),
  definitionsDelay: delaySchema.default(5000),
  stateDump: durationSchema.optional(),
  clockTolerance: durationSchema.default(CLOCK_TOLERANCE),
  callTimeout: durationSchema.default(2000),
  sweepInterval: durationSchema.default(10_000),
  heartbeat: delaySchema.default(10_000),
  history: switchSchema.default(true),
  persistence: z
    .custom<Persistence | undefined>(
      isPersistence,
      "is neither fileArchive('...') nor postgresArchive({ connectionString })",
    )
    .optional(),
  version: nameSchema.optional(),
  shutdownGrace: delaySchema.default(10_000),
  strictStart: switchSchema.default(false),
});

/** The options with defaults filled in, all durations in ms. */
export type GatekeeperSettings = z.output<typeof optionsSchema>;

/**
 * Checks all options at once.
 *
 * @throws InvalidOptionsError listing every fault with its field and value
 */
export function parseGatekeeperOptions(options: GatekeeperOptions): GatekeeperSettings {
  const parsed = optionsSchema.safeParse(options);
  const faults = [...(parsed.error ? faultsOf(parsed.error) : []), ...definitionFaults(options)];
  if (!parsed.success || faults.length > 0) throw new InvalidOptionsError("GatekeeperModule's options", faults);
  return parsed.data;
}

/** Of options that may be wrong elsewhere: what can be read of those that must fit one another. */
const relatedSchema = z
  .object({
    definitions: z.array(definitionSchema.optional().catch(undefined)).catch([]),
    clockTolerance: durationSchema.default(CLOCK_TOLERANCE).catch(CLOCK_TOLERANCE),
  })
  .catch({ definitions: [], clockTolerance: CLOCK_TOLERANCE });

function definitionFaults(options: unknown): string[] {
  const { definitions, clockTolerance } = relatedSchema.parse(options);
  const seen = new Set<string>();
  return definitions.flatMap((definition, index) => {
    if (!definition) return [];
    const { name, duration } = definition;
    const tooShort = durationFault(duration, clockTolerance);
    const reserved = reservedNameFault(name);
    const faults = tooShort ? [`definitions.${index}.${tooShort}`] : [];
    if (reserved) faults.push(`definitions.${index}.name: ${reserved}`);
    if (seen.has(name)) faults.push(`definitions.${index}.name: ${show(name)} is defined twice`);
    seen.add(name);
    return faults;
  });
}
