import type { ClientConfig, Client as HazelcastClient } from 'hazelcast-client';
import { z } from 'zod';
import { faultsOf, onlyFields, saying } from '../../core/decision/only-fields.js';
import { InvalidOptionsError } from '../../core/decision/invalid-options.error.js';
import { givenClientFaults, clientConfigFaults } from './client-config.faults.js';
import { isOneLine } from '../../core/decision/texts/one-line.js';

interface RecordOptions {
  /**
   * Number of members that this client must see before it writes; lite members don't count. 'majority' means more than
   * half of `expectedMembers`. Default: no quorum. Split-brain protection on the members is stronger.
   */
  readonly quorum?: number | 'majority';
  /** Number of members of the complete cluster. */
  readonly expectedMembers?: number;
  /**
   * Implementation of compare-and-set. 'optimistic' (default): one atomic operation. 'pessimistic': the same operation
   * under the record's lock, which needs one more round trip before it and one after it. Nodes of both kinds may share
   * a map.
   */
  readonly acquisition?: 'optimistic' | 'pessimistic';
  /**
   * Keeps records in the CP subsystem instead of a map. No acknowledged write is lost while a majority of the CP
   * members lives (open source keeps nothing on disk). In a split network only the side with the majority can write.
   * Needs members with `cp-member-count` of 3 or more: open source up to 5.4, Enterprise from 5.5. All nodes must use
   * the same setting, because records in CP and records in a map are separate. Default false.
   *
   * @see https://docs.hazelcast.com/hazelcast/5.4/cp-subsystem/cp-subsystem
   */
  readonly cp?: boolean;
  /** Name of the map of records. The names of other maps begin with it. Default 'gatekeeper.records'. */
  readonly mapName?: string;
  /** Name of the first FlakeIdGenerator for cluster time. Names of others begin with it. Default 'gatekeeper.clock'. */
  readonly clockName?: string;
}

/** Receiver of the Hazelcast client's log, for example Nest's `Logger`. */
export interface ClientLogger {
  /** Receives errors. */
  error(message: string): void;
  /** Receives warnings. */
  warn(message: string): void;
  /** Receives information. */
  log(message: string): void;
  /** Receives details. Without this method they are dropped. */
  debug?(message: string): void;
}

/** The store creates its own client, and closes it. */
export interface OwnClientOptions extends RecordOptions {
  /** Default 'dev', as in Hazelcast. */
  readonly clusterName?: string;
  /** Addresses of members, 'host' or 'host:port'; one that answers is enough. Default ['127.0.0.1:5701']. */
  readonly members?: readonly string[];
  /** Further settings of the client: credentials, SSL, labels. Fields that the store must set itself are refused. */
  readonly clientConfig?: ClientConfig;
  /** Receives what the client logs, for example Nest's `new Logger('Hazelcast')`. Default: nothing is logged. */
  readonly logger?: ClientLogger;
  /** Must be absent: the store creates its own client. */
  readonly client?: undefined;
}

/**
 * The store uses a client of the application, and never closes it. Its config needs
 * `flakeIdGenerators: { 'gatekeeper.clock*': { prefetchCount: 1 } }`, no Near Cache over the map of records, and should
 * have the property `hazelcast.client.operation.fail.on.indeterminate.state` on and `reconnectMode: 'ASYNC'`.
 */
export interface GivenClientOptions extends RecordOptions {
  /** The connected client of the application. */
  readonly client: HazelcastClient;
}

/** Options of `hazelcast(...)`: the store creates its own client, or uses one of the application. */
export type HazelcastStoreOptions = OwnClientOptions | GivenClientOptions;

interface ResolvedNames {
  readonly expectedMembers?: number | undefined;
  readonly mapName: string;
  readonly clockName: string;
  readonly acquisition: 'optimistic' | 'pessimistic';
  readonly cp: boolean;
  /** Number of members that must be seen before a write; 0 without a quorum. */
  readonly quorum: number;
}

export interface ResolvedOwnOptions extends ResolvedNames {
  readonly clusterName: string;
  readonly members: readonly string[];
  readonly clientConfig: ClientConfig;
  readonly logger?: ClientLogger | undefined;
  readonly client?: undefined;
}

export interface ResolvedGivenOptions extends ResolvedNames {
  readonly client: HazelcastClient;
}

export type ResolvedOptions = ResolvedOwnOptions | ResolvedGivenOptions;

const count = z.int(saying('a whole number')).min(1, saying('1 or more'));
const name = z
  .string(saying('a name'))
  .min(1, 'is empty: give it a name')
  .refine(isOneLine, saying('a name: it has control characters or half a character'));
const address = z
  .string(saying("an address such as '127.0.0.1:5701'"))
  .regex(/^[^\s,]+$/, saying("one address such as '127.0.0.1:5701'"))
  .refine(
    (text) => /:\d+$|^[^:]*$|:.*:/.test(text),
    saying("an address such as '127.0.0.1:5701': the port is no number"),
  )
  .refine((text) => Number(/:(\d+)$/.exec(text)?.[1] ?? 1) <= 65_535, saying('an address with a port up to 65535'));

const clientConfig = z
  .custom<ClientConfig>((value) => typeof value === 'object' && value !== null, saying('a ClientConfig object'))
  .superRefine((config, context) => {
    for (const message of clientConfigFaults(config)) context.addIssue({ code: 'custom', message });
  });

const logger = z.custom<ClientLogger>(
  (value) => ['error', 'warn', 'log'].every((level) => hasMethod(value, level)),
  saying('a logger with the methods error, warn and log'),
);

const client = z.custom<HazelcastClient>(
  (value) => ['getMap', 'getFlakeIdGenerator', 'getLifecycleService'].every((method) => hasMethod(value, method)),
  saying('a HazelcastClient: pass the result of await Client.newHazelcastClient()'),
);

function hasMethod(value: unknown, method: string): boolean {
  return typeof (value as Record<string, unknown> | null | undefined)?.[method] === 'function';
}

const recordShape = {
  quorum: z.union([z.literal('majority'), count], saying("a whole number from 1, or 'majority'")).optional(),
  expectedMembers: count.optional(),
  acquisition: z.enum(['optimistic', 'pessimistic'], saying("'optimistic' or 'pessimistic'")).default('optimistic'),
  cp: z.boolean(saying('true or false')).default(false),
  mapName: name.default('gatekeeper.records'),
  clockName: name.default('gatekeeper.clock'),
};

const ownShape = {
  ...recordShape,
  client: z.undefined().optional(),
  clusterName: name.default('dev'),
  members: z
    .array(address, saying('a list of addresses'))
    .min(1, 'is empty: give at least one address')
    .default(['127.0.0.1:5701']),
  clientConfig: clientConfig.default({}),
  logger: logger.optional(),
};

const givenShape = { ...recordShape, client };

const ownClientSchema = onlyFields(ownShape);
const givenClientSchema = onlyFields(givenShape);

/** @throws InvalidOptionsError listing every fault */
export function resolveOptions(options: HazelcastStoreOptions): ResolvedOptions {
  const schema = options?.client === undefined ? ownClientSchema : givenClientSchema;
  const parsed = schema.safeParse(options);
  const faults = [...(parsed.error ? faultsOf(parsed.error) : []), ...relationFaults(options)];
  if (!parsed.success || faults.length > 0) throw new InvalidOptionsError('hazelcast(options)', faults);
  return { ...parsed.data, quorum: quorumOf(parsed.data) };
}

/** Faults between fields. Not in the schema, because zod skips such checks if a field is wrong. */
function relationFaults(options: HazelcastStoreOptions): string[] {
  return [...quorumFaults(options ?? {}), ...acquisitionFaults(options ?? {}), ...givenClientFaults(options ?? {})];
}

function acquisitionFaults({ cp, acquisition }: HazelcastStoreOptions): string[] {
  if (cp !== true || acquisition !== 'pessimistic') return [];
  return [
    "acquisition: 'pessimistic' locks entries of a map, and cp: true keeps records in none: leave one of them out",
  ];
}

interface QuorumOptions {
  readonly quorum?: number | 'majority' | undefined;
  readonly expectedMembers?: number | undefined;
}

/** Number of members that must be seen; 0 without a quorum. */
function quorumOf({ quorum = 0, expectedMembers = 0 }: QuorumOptions): number {
  return quorum === 'majority' ? Math.floor(expectedMembers / 2) + 1 : quorum;
}

function quorumFaults({ quorum, expectedMembers }: QuorumOptions): string[] {
  if (quorum === 'majority' && expectedMembers === undefined) {
    return ["quorum: 'majority' needs expectedMembers, the number of members that the whole cluster has"];
  }
  if (typeof quorum !== 'number' || expectedMembers === undefined || quorum <= expectedMembers) return [];
  return [`quorum: ${quorum} is more than expectedMembers (${expectedMembers}): nothing would ever be written`];
}

/** The cluster in words. */
export function placeOf(options: ResolvedOptions): string {
  return options.client
    ? "the given client's cluster"
    : `cluster "${options.clusterName}" at ${options.members.join(', ')}`;
}
