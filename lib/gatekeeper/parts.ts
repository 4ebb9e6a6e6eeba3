import { type NodeClock, systemClock } from '../async/node-clock.js';
import { type Randomness, systemRandomness } from '../async/random-ids.js';
import {
  Audit,
  Membership,
  MoveHistory,
  NodeRegistry,
  RunHistory,
  lookAtMembers,
  readRunFacts,
} from '../activity/index.js';
import type { Context, GatekeeperLogger } from '../context/context.js';
import { Archivist, BoundedArchive, Definitions } from '../definitions/index.js';
import { HealthCheck, LeaderWatch } from '../insight/index.js';
import { stateLines } from '../insight/state.js';
import { readState } from '../insight/state-reader.js';
import { ALLOCATION_SCOPE, Allocation, type AllocationParts } from '../allocation/index.js';
import { Cluster, type ClusterParts, Handovers } from '../leadership/index.js';
import { ExternalPermits } from '../permits/external/external-permits.js';
import { RequestedRuns } from '../permits/by-hand/requested-runs.js';
import { RunNow } from '../permits/by-hand/run-now.js';
import { RunRequests } from '../permits/by-hand/run-requests.js';
import { MissedRuns } from '../permits/missed/missed-runs.js';
import { Preferences } from '../permits/preferences.js';
import { SemaphoreDirectory } from '../permits/semaphore-directory.js';
import { type SemaphoreDefinitionInput, type SemaphoreRecord, shortestDuration } from '../decision/index.js';
import type { RecordStore } from '../stores/index.js';
import { Tasks, stateLinesOf } from '../tasks/index.js';
import { createContext } from './create-context.js';
import { EventLog } from './event-log.js';
import { type GatekeeperSettings, MEMBERSHIP_LEASE } from './gatekeeper-options.js';
import { Housekeeping } from './housekeeping.js';
import { LogFields } from './log-fields.js';
import { Sweeping } from './sweeping.js';
import type { Telemetry } from './telemetry.js';

/** Replaces the machine's clocks and randomness in tests. */
export interface Environment {
  readonly nodeClock?: NodeClock;
  readonly random?: Randomness;
  /** A smaller number of shards, only for simulations. */
  readonly shards?: number;
}

/** The parts of one gatekeeper. */
export interface Parts {
  readonly context: Context;
  readonly directory: SemaphoreDirectory;
  readonly definitions: Definitions;
  readonly archivist?: Archivist | undefined;
  readonly registry: NodeRegistry;
  readonly membership: Membership;
  readonly audit: Audit;
  readonly runHistory: RunHistory;
  readonly moveHistory: MoveHistory;
  readonly external: ExternalPermits;
  readonly requestedRuns: RequestedRuns;
  readonly runNow: RunNow;
  readonly missedRuns: MissedRuns;
  readonly cluster: Cluster;
  readonly allocation: Allocation;
  readonly tasks: Tasks;
  readonly handovers: Handovers;
  readonly leaderWatch: LeaderWatch;
  readonly sweeping: Sweeping;
  readonly health: HealthCheck;
  readonly housekeeping: Housekeeping;
  /** Absent without the option `telemetry`. */
  readonly telemetry?: Telemetry | undefined;
  /** Opens another client of the store. It is also notified of this node's writes. The caller closes it. */
  readonly openStore: () => RecordStore;
}

/**
 * Shortest time in ms for which a birth is announced, so that a node that knows the former cluster can object. Usually a
 * hint of the store notifies it at once.
 */
const OBJECTION = 2000;

/** Not in the class, so that users of a gatekeeper see only public members. */
const partsByGatekeeper = new WeakMap<object, Parts>();
const standIns = new WeakSet<object>();

export function keepParts(gatekeeper: object, parts: Parts): void {
  partsByGatekeeper.set(gatekeeper, parts);
}

/** The parts of a gatekeeper, for `nest/`, `console/` and `testing/`. @throws Error for a mock, which has no parts */
export function partsOf(gatekeeper: object): Parts {
  const parts = partsByGatekeeper.get(gatekeeper);
  if (!parts) throw new Error('a mock in the place of the gatekeeper: use a TestGatekeeper or a real one');
  return parts;
}

export function isMock(gatekeeper: object): boolean {
  return !partsByGatekeeper.has(gatekeeper);
}

/** Marks a gatekeeper whose grants a test controls: guarded methods are not checked, and no store is opened. */
export function markAsStandIn(gatekeeper: object): void {
  standIns.add(gatekeeper);
}

/** Whether this is neither a mock nor a test's stand-in. */
export function isReal(gatekeeper: object): boolean {
  return !isMock(gatekeeper) && !standIns.has(gatekeeper);
}

/** Creates the parts and connects them. Starts nothing. */
export function createParts(
  settings: GatekeeperSettings,
  logger: GatekeeperLogger,
  isClosing: () => boolean,
  { nodeClock = systemClock, random = systemRandomness(), shards }: Environment = {},
): Parts {
  const { group, acquirer } = settings;
  const telemetry = settings.telemetry?.open();
  const context = createContext(settings, {
    node: { group, acquirer, instance: random.instance() },
    nodeClock,
    random,
    isClosing,
    instrumentation: telemetry,
    grantFault: () => health.report().faults.find(({ stopsGrants }) => stopsGrants),
  });
  const archive = settings.persistence && new BoundedArchive(settings.persistence, context);
  const directory = createDirectory(context, settings, archive, shards);
  const archivist =
    archive &&
    new Archivist(archive, context, {
      known: () => new Map([...watched(sweeping), ...directory.definedRecords]),
      isGone: (name) => directory.shards.lacks(name),
    });
  const audit = new Audit(context);
  const runHistory: RunHistory = new RunHistory(context, {
    isOn: settings.history,
    isListed: settings.heartbeat > 0,
    factsOf: (open) => readRunFacts(open, { context, registry, membership, listing: directory.listing }),
  });
  const moveHistory = new MoveHistory(context, settings.history);
  const membership = createMembership(context, settings, () => [
    ...cluster.activeScopes,
    ...allocation.cluster.activeScopes,
  ]);
  const registry: NodeRegistry = new NodeRegistry(context, settings, runHistory, membership);
  const declare = async (definitions: readonly SemaphoreDefinitionInput[]) => {
    await directory.declared.registerAll(definitions);
    // Otherwise the first load of definitions creates them.
    if (housekeeping.mayLoad) housekeeping.loadSoon();
  };
  const join = () => {
    leaderWatch.start();
    return membership.start();
  };
  const handovers = new Handovers({
    preferences: new Preferences({ context, audit, visit: directory.recordClients.visit }),
    members: () => lookAtMembers(context),
    grace: settings.shutdownGrace,
  });
  const leading = { context, handovers, grace: settings.shutdownGrace, directory, declare, membership, join };
  const cluster: Cluster = createCluster(settings, leading);
  const allocation: Allocation = createAllocation({ ...leading, moves: moveHistory });
  for (const { name, ...group } of settings.allocation.groups) allocation.add(name, group);
  const tasks = new Tasks({
    context,
    directory,
    grace: settings.shutdownGrace,
    mostBytes: settings.tasks.maxBytes,
    maxRetainedBytes: settings.tasks.maxRetainedBytes,
    nodes: settings.heartbeat > 0 ? () => registry.nodes() : undefined,
  });
  registry.tasks = () => tasks.work.list(tasks.handlers);
  const leaderWatch: LeaderWatch = new LeaderWatch([cluster, allocation.cluster], context);
  const sources = {
    runs: runHistory,
    audit,
    nodes: registry,
    shards: directory.birth,
    archive,
    leaders: leaderWatch,
    allocation,
  };
  const health: HealthCheck = new HealthCheck(context, sources);
  const nodes = () => registry.nodes();
  const { recordClients, declared, listing } = directory;
  const definitions = new Definitions(recordClients, declared, audit, context, nodes, listing);
  const external = new ExternalPermits((name, work) => directory.visit(name, work), context);
  const requests = new RunRequests(context);
  const requestedRuns = new RequestedRuns(requests, context);
  const ownJobs = () => registry.jobs();
  const { visit } = recordClients;
  const runNow = new RunNow({ context, audit, requests, nodes, ownJobs, visit });
  const sweeping: Sweeping = new Sweeping(directory, context, {
    isOwn: settings.store.isOwn === true,
    interval: settings.sweepInterval,
    hasArchive: archive !== undefined,
    mayLoad: () => housekeeping.mayLoad,
    unknown: (name, text) => {
      context.changes.next(name);
      if (text !== undefined) archivist?.observe(name, text);
    },
  });
  const fields = settings.logFields === undefined ? undefined : new LogFields(settings.logFields, context.node);
  const lines = fields?.over(logger) ?? logger;
  const dump = async () => {
    for (const line of stateLines(await readState({ directory, context, health }))) lines.log(line);
    for (const line of await stateLinesOf(tasks)) lines.log(line);
  };
  const sweep = () => sweeping.sweep().finally(() => archivist?.save());
  const housekeeping: Housekeeping = new Housekeeping(
    context,
    { sweep, load: () => directory.declared.load(), dump },
    settings,
  );
  const log = new EventLog(logger, fields);
  context.events.subscribe((event) => log.note(event));
  return {
    context,
    directory,
    definitions,
    archivist,
    registry,
    membership,
    audit,
    runHistory,
    moveHistory,
    external,
    requestedRuns,
    runNow,
    missedRuns: new MissedRuns(context),
    cluster,
    allocation,
    tasks,
    handovers,
    leaderWatch,
    sweeping,
    health,
    housekeeping,
    telemetry,
    openStore: () => settings.store.open({ callTimeout: settings.callTimeout }),
  };
}

function createAllocation(parts: ClusterParts & Omit<AllocationParts, 'cluster'>): Allocation {
  const { lease } = parts.membership;
  const cluster = new Cluster(parts, { enabled: false, scopes: [ALLOCATION_SCOPE], lease });
  return new Allocation({ ...parts, cluster });
}

function createCluster(
  { leadership: { scopes, lease, enabled } }: GatekeeperSettings,
  parts: ClusterParts & Pick<Parts, 'directory'>,
): Cluster {
  const cluster = new Cluster(parts, { enabled, scopes, lease });
  // Registered now, so that ready() waits for them.
  if (enabled) for (const definition of cluster.definitions) parts.directory.declared.register(definition);
  return cluster;
}

function watched(sweeping: Sweeping): [string, SemaphoreRecord][] {
  return [...sweeping.watched].flatMap(({ name, known }) => (known ? [[name, known]] : []));
}

/** Without the option it has a lease too: leadership may start it later. */
function createMembership(
  context: Context,
  { membership, version, metadata }: GatekeeperSettings,
  scopes: () => readonly string[],
): Membership {
  const lease = membership?.lease ?? Math.max(MEMBERSHIP_LEASE, shortestDuration(context.timing.clockTolerance));
  return new Membership(context, { lease, version, metadata, scopes });
}

function createDirectory(
  context: Context,
  { requireDefinitions, definitionsDelay, sweepInterval, callTimeout, store, definitions }: GatekeeperSettings,
  archive: BoundedArchive | undefined,
  shards: number | undefined,
): SemaphoreDirectory {
  const archived = archive && (() => archive.archived());
  const isOwn = store.isOwn === true;
  const announcement = Math.max(definitionsDelay, isOwn ? 0 : Math.min(callTimeout, OBJECTION));
  const loading = { atOnce: isOwn, patience: announcement + callTimeout, ...(archived && { archived }) };
  const births = { isOwn, shards, announcement, sweepInterval };
  const directory = new SemaphoreDirectory(context, { requireDefinitions, ...loading, ...births });
  for (const definition of definitions) directory.declared.register(definition);
  return directory;
}
