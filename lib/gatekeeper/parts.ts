import { Alerts } from '../operate/alerts/index.js';
import { type NodeClock, systemClock } from '../core/async/node-clock.js';
import { type Randomness, systemRandomness } from '../core/async/random-ids.js';
import {
  Audit,
  JobHistories,
  LivingNodes,
  NodeRegistry,
  RunArchivist,
  RunHistory,
  Runs,
  type StartEntry,
  readRunFacts,
  timesOf,
} from '../operate/activity/index.js';
import { type Membership, lookAtMembers } from '../core/members/index.js';
import { MoveHistory } from '../allocation/moves/move-history.js';
import type { Context, GatekeeperLogger } from '../core/context/context.js';
import {
  Archivist,
  BoundedArchive,
  CodeFollower,
  DefinitionWriter,
  Definitions,
} from '../operate/definitions/index.js';
import {
  ApplicationWatch,
  CodeWatch,
  HealthCheck,
  JobWatch,
  LeaderWatch,
  type Overview,
  NodesWatch,
  readNewestRuns,
  readOverview,
} from '../operate/insight/index.js';
import { stateLines } from '../operate/insight/state.js';
import { readState } from '../operate/insight/state-reader.js';
import type { Allocation } from '../allocation/index.js';
import { type Cluster, Handovers } from '../leadership/index.js';
import { ExternalPermits } from '../core/permits/external/external-permits.js';
import { RequestedRuns } from '../core/permits/by-hand/requested-runs.js';
import { RunNow } from '../operate/run-now/run-now.js';
import { RunRequests } from '../core/permits/by-hand/run-requests.js';
import { MissedRuns } from '../core/permits/missed/missed-runs.js';
import { Preferences } from '../core/permits/preferences.js';
import type { SemaphoreDirectory } from '../core/permits/semaphore-directory.js';
import { type SemaphoreDefinitionInput, type SemaphoreRecord, TASK_PREFIX } from '../core/decision/index.js';
import type { Driver } from '../core/store/index.js';
import { Tasks, stateLinesOf } from '../tasks/index.js';
import { SharedWork } from '../core/async/shared-work.js';
import { createContext } from './create-context.js';
import { EventLog } from './event-log.js';
import type { GatekeeperSettings } from './gatekeeper-options.js';
import { Housekeeping } from './housekeeping.js';
import { LogFields } from './log-fields.js';
import { createAllocation, createCluster, createDirectory, createMembership } from './part-factories.js';
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
  readonly living: LivingNodes;
  readonly registry: NodeRegistry;
  readonly membership: Membership;
  readonly audit: Audit;
  readonly runHistory: RunHistory;
  /** Absent without the option `history: { archive }`. */
  readonly runArchivist?: RunArchivist | undefined;
  readonly jobHistories: JobHistories;
  readonly runs: Runs;
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
  /** Absent if this node does not publish itself. */
  readonly nodesWatch?: NodesWatch | undefined;
  readonly sweeping: Sweeping;
  readonly health: HealthCheck;
  /** See `Gatekeeper.overview`. */
  readonly overview: (only?: string) => Promise<Overview>;
  readonly housekeeping: Housekeeping;
  /** Absent without the option `alerts`. */
  readonly alerts?: Alerts | undefined;
  /** Absent without the option `telemetry`. */
  readonly telemetry?: Telemetry | undefined;
  /** Opens another client of the store. It is also notified of this node's writes. The caller closes it. */
  readonly openStore: () => Driver;
}

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
    // Callers get it with many answers.
    node: Object.freeze({ group, acquirer, instance: random.instance() }),
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
  const audit = new Audit(context, (name) =>
    directory.recordClients.peek(name).transact((record) => ({ result: record?.change?.id })),
  );
  const factsOf = (open: readonly StartEntry[]) =>
    readRunFacts(open, { context, registry, membership, listing: directory.listing });
  const timesNow = () => timesOf(registry.jobs(), context);
  const jobHistories = new JobHistories(context, timesNow, settings.version);
  const history = typeof settings.history === 'object' ? settings.history : undefined;
  const runArchivist =
    history?.archive &&
    new RunArchivist(history.archive, context, settings.shutdownGrace, {
      history: (limit) => runHistory.read(limit),
      nodes: () => registry.nodes(),
    });
  const runHistory: RunHistory = new RunHistory(context, {
    isOn: settings.history !== false,
    keepsStacks: history?.stacks ?? true,
    isListed: settings.heartbeat > 0,
    archive: runArchivist,
    jobs: jobHistories,
    factsOf,
  });
  const runs = new Runs({ context, history: runHistory, histories: jobHistories, factsOf });
  const moveHistory = new MoveHistory(context, settings.history !== false);
  const membership = createMembership(context, settings, () => [
    ...cluster.activeScopes,
    ...allocation.cluster.activeScopes,
  ]);
  const living = new LivingNodes(context, membership);
  const registry: NodeRegistry = new NodeRegistry(context, settings, runHistory, membership, living);
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
    work: settings.tasks.work,
    maxRetainedBytes: settings.tasks.maxRetainedBytes,
    nodes: settings.heartbeat > 0 ? () => registry.nodes() : undefined,
  });
  registry.tasks = () => tasks.work.list(tasks.handlers);
  registry.code = () => directory.declared.announcement;
  const leaderWatch: LeaderWatch = new LeaderWatch([cluster, allocation.cluster], context);
  registry.used = () => [...directory.demanded, ...tasks.submittedTypes.map((type) => TASK_PREFIX + type)];
  const { recordClients, declared, listing } = directory;
  const { application, store } = settings;
  const codeWatch = new CodeWatch(declared, context);
  const applicationWatch = new ApplicationWatch({ application, store, registry, declared }, context);
  const jobWatch = new JobWatch({ registry, declared, listing, runs }, context);
  // No other process has other code if only this one uses the store.
  const readers = [applicationWatch, jobWatch, ...(store.isOwn ? [] : [codeWatch])];
  const nodesWatch = settings.heartbeat > 0 ? new NodesWatch(living, readers, context) : undefined;
  const follower = new CodeFollower(
    declared,
    new DefinitionWriter(recordClients.visit, declared, audit, context),
    context,
    {
      codeChanges: settings.codeChanges,
      isAnnounced: settings.heartbeat > 0,
      isAlone: settings.store.isOwn === true,
      version: settings.version,
      living,
      archived: archive && (() => archive.archived()),
    },
  );
  const sources = {
    runs: runHistory,
    audit,
    nodes: registry,
    listing: directory.listing,
    shards: directory.birth,
    archive,
    runArchive: runArchivist,
    leaders: leaderWatch,
    applications: applicationWatch,
    follower,
    code: codeWatch,
    jobs: jobWatch,
    allocation,
    alerts: () => alerts,
  };
  const health: HealthCheck = new HealthCheck(context, sources);
  const overview = sharedOverview({
    directory,
    context,
    health,
    registry,
    runHistory,
    runs,
    unfollowed: (name) => codeWatch.sentenceOf(name) ?? follower.stuckSentenceOf(name),
    isLeftOver: (name) => codeWatch.isLeftOver(name),
  });
  const alerts: Alerts | undefined =
    settings.alerts &&
    new Alerts(context, settings.alerts, {
      health: () => health.report(),
      faultParts: () => health.faultParts(),
      overview,
      newestRuns: () => readNewestRuns({ context, runHistory, runs }),
    });
  const nodes = () => registry.nodes();
  const definitions = new Definitions(recordClients, declared, audit, context, living, listing);
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
  const load = async () => {
    const isDone = await declared.load();
    await follower.follow();
    return isDone;
  };
  const housekeeping: Housekeeping = new Housekeeping(context, { sweep, load, dump }, settings);
  const log = new EventLog(logger, context.nodeClock, fields);
  context.events.subscribe((event) => log.note(event));
  return {
    context,
    directory,
    definitions,
    archivist,
    living,
    registry,
    membership,
    audit,
    runHistory,
    runArchivist,
    jobHistories,
    runs,
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
    nodesWatch,
    sweeping,
    health,
    overview,
    housekeeping,
    alerts,
    telemetry,
    openStore: () => settings.store.open({ callTimeout: settings.callTimeout }),
  };
}

/** Callers that ask for the whole overview at the same time get the same one, because it may have thousands of semaphores. */
function sharedOverview(sources: Parameters<typeof readOverview>[0]): Parts['overview'] {
  const whole = new SharedWork(() => readOverview(sources));
  return (only) => (only === undefined ? whole.share('', undefined) : readOverview(sources, only));
}

function watched(sweeping: Sweeping): [string, SemaphoreRecord][] {
  return [...sweeping.watched].flatMap(({ name, known }) => (known ? [[name, known]] : []));
}
