import type { ClientConfig, Client as HazelcastClient } from 'hazelcast-client';
import { z } from 'zod';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';
import { faultsOf, onlyFields, saying } from '../../core/decision/only-fields.js';
import { InvalidOptionsError } from '../../core/decision/invalid-options.error.js';
import { quoted } from '../../core/decision/texts/hidden-characters.js';
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

export const FAIL_ON_INDETERMINATE_STATE = 'hazelcast.client.operation.fail.on.indeterminate.state';

/**
 * A node that reads only one member's clock could take a permit over too early, if that clock is ahead of the others.
 */
const ROUTING = 'remove it: the store must read the clocks of all members, one after another';

/** Fields that the store must set itself. A user's value is refused with a reason, not silently ignored. */
const OWNED: readonly [path: string, find: (config: ClientConfig) => unknown, instead: string][] = [
  ['clusterName', (config) => config.clusterName, 'use the option clusterName'],
  ['customLogger', (config) => config.customLogger, 'use the option logger'],
  ['connectionStrategy', (config) => config.connectionStrategy, 'remove it: the store reconnects by itself, for ever'],
  ['nearCaches', (config) => config.nearCaches, 'remove it: records are always read from the member that owns them'],
  ['network.clusterMembers', (config) => config.network?.clusterMembers, 'use the option members'],
  ['network.hazelcastCloud', (config) => config.network?.hazelcastCloud, 'pass your own client as the option client'],
  ['network.smartRouting', (config) => config.network?.smartRouting === false || undefined, ROUTING],
  ['loadBalancer', (config) => config.loadBalancer, ROUTING],
  ['network.redoOperation', (config) => config.network?.redoOperation, 'remove it: a write must not be sent twice'],
  [
    `properties['${FAIL_ON_INDETERMINATE_STATE}']`,
    (config) => config.properties?.[FAIL_ON_INDETERMINATE_STATE],
    'remove it: the store turns it on, because otherwise a write without its backup would count as safe',
  ],
];

const clientConfig = z
  .custom<ClientConfig>((value) => typeof value === 'object' && value !== null, saying('a ClientConfig object'))
  .superRefine((config, context) => {
    for (const [path, find, instead] of OWNED) {
      if (find(config) !== undefined) context.addIssue({ code: 'custom', message: `${path}: ${instead}` });
    }
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

const MAP_NAME = 'gatekeeper.records';

const recordShape = {
  quorum: z.union([z.literal('majority'), count], saying("a whole number from 1, or 'majority'")).optional(),
  expectedMembers: count.optional(),
  acquisition: z.enum(['optimistic', 'pessimistic'], saying("'optimistic' or 'pessimistic'")).default('optimistic'),
  cp: z.boolean(saying('true or false')).default(false),
  mapName: name.default(MAP_NAME),
  clockName: name.default('gatekeeper.clock'),
};

const ownClientSchema = onlyFields({
  ...recordShape,
  client: z.undefined().optional(),
  clusterName: name.default('dev'),
  members: z
    .array(address, saying('a list of addresses'))
    .min(1, 'is empty: give at least one address')
    .default(['127.0.0.1:5701']),
  clientConfig: clientConfig.default({}),
  logger: logger.optional(),
});

const givenClientSchema = onlyFields({ ...recordShape, client });

/** Options with defaults. */
type Resolved<Schema extends z.ZodType> = Readonly<Omit<z.output<Schema>, 'quorum'>> & {
  /** Number of members that must be seen before a write; 0 without a quorum. */
  readonly quorum: number;
};
export type ResolvedOwnOptions = Resolved<typeof ownClientSchema>;
export type ResolvedOptions = ResolvedOwnOptions | Resolved<typeof givenClientSchema>;

type QuorumOptions = Pick<z.output<typeof ownClientSchema>, 'quorum' | 'expectedMembers'>;

/** @throws InvalidOptionsError listing every fault */
export function resolveOptions(options: HazelcastStoreOptions): ResolvedOptions {
  const schema = options?.client === undefined ? ownClientSchema : givenClientSchema;
  const parsed = schema.safeParse(options);
  const faults = [...(parsed.error ? faultsOf(parsed.error) : []), ...relationFaults(options ?? {})];
  if (!parsed.success || faults.length > 0) throw new InvalidOptionsError('hazelcast(options)', faults);
  return { ...parsed.data, quorum: quorumOf(parsed.data) };
}

/** Faults between fields. Not in the schema, because zod skips such checks if a field is wrong. */
function relationFaults(options: HazelcastStoreOptions): string[] {
  return [...quorumFaults(options), ...acquisitionFaults(options), ...givenClientFaults(options)];
}

function acquisitionFaults({ cp, acquisition }: HazelcastStoreOptions): string[] {
  if (cp !== true || acquisition !== 'pessimistic') return [];
  return [
    "acquisition: 'pessimistic' locks entries of a map, and cp: true keeps records in none: leave one of them out",
  ];
}

function quorumOf({ quorum = 0, expectedMembers = 0 }: QuorumOptions): number {
  return quorum === 'majority' ? Math.floor(expectedMembers / 2) + 1 : quorum;
}

function quorumFaults({ quorum, expectedMembers }: HazelcastStoreOptions): string[] {
  if (quorum === 'majority' && expectedMembers === undefined) {
    return ["quorum: 'majority' needs expectedMembers, the number of members that the whole cluster has"];
  }
  if (typeof quorum !== 'number' || expectedMembers === undefined || quorum <= expectedMembers) return [];
  return [`quorum: ${quorum} is more than expectedMembers (${expectedMembers}): nothing would ever be written`];
}

/**
 * In hazelcast-client 5.6 only a synchronous start connects to the other members (HazelcastClient.init). Otherwise a
 * write waits 5 s for a backup acknowledgement that can't reach the client, and its outcome is unknown.
 */
const ASYNC_START =
  'client: it was made with connectionStrategy.asyncStart, and so never connects to more than one member: turn it off';

const UNHEARD =
  'client: it asks one member only, or members by chance (network.smartRouting, loadBalancer), so that the clocks of the ' +
  'others go unheard: leave both at their defaults';

/** The store's maps: `mapName` with these endings. */
const MAPS = ['', '.tasks', '.groups', '.waiters', '.hints', '.keys'];

/** Finds settings of the application's client that would make the store slow or wrong. */
function givenClientFaults({ client, mapName = MAP_NAME }: HazelcastStoreOptions): string[] {
  if (typeof client?.getConfig !== 'function') return [];
  const { connectionStrategy, nearCaches = {}, network, loadBalancer } = client.getConfig();
  return [
    ...(connectionStrategy?.asyncStart ? [ASYNC_START] : []),
    ...(hearsAll(network, loadBalancer) ? [] : [UNHEARD]),
    ...Object.keys(nearCaches).flatMap((pattern) => nearCacheFaults(pattern, mapName)),
  ];
}

/** Whether successive calls without a key go to one member after another. */
function hearsAll(network: ClientConfig['network'], balancer: ClientConfig['loadBalancer']): boolean {
  const { ROUND_ROBIN } = loadHazelcastClient().LoadBalancerType;
  const isInTurn = !balancer?.customLoadBalancer && (balancer?.type ?? ROUND_ROBIN) === ROUND_ROBIN;
  return isInTurn && network?.smartRouting !== false;
}

function nearCacheFaults(pattern: string, mapName: string): string[] {
  const covered = MAPS.map((end) => mapName + end).find((name) => covers(pattern, name));
  if (covered === undefined) return [];
  return [
    `client: its Near Cache ${quoted(pattern)} covers the map ${quoted(covered)}: stale records would be read, so name the caches that you need`,
  ];
}

/** Whether a config's name covers a map, by Hazelcast's rules: the whole name, one asterisk, or 'default'. */
function covers(pattern: string, name: string): boolean {
  if (pattern === 'default' || pattern === name) return true;
  const [start = '', end] = pattern.split('*', 2);
  return end !== undefined && name.startsWith(start) && name.endsWith(end);
}

/** The cluster in words. */
export function placeOf(options: ResolvedOptions): string {
  return options.client
    ? "the given client's cluster"
    : `cluster "${options.clusterName}" at ${options.members.join(', ')}`;
}
