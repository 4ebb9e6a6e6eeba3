import { ALLOCATION_SCOPE, Allocation } from '../allocation/index.js';
import { MoveHistory } from '../allocation/moves/move-history.js';
import { type NodeClock, systemClock } from '../core/async/node-clock.js';
import { type Randomness, systemRandomness } from '../core/async/random-ids.js';
import { type GatekeeperLogger, createContext } from '../core/context/context.js';
import {
  type SemaphoreDefinitionInput,
  type SemaphoreRecord,
  TASK_PREFIX,
  shortestDuration,
} from '../core/decision/index.js';
import { Membership, readMembership } from '../core/members/index.js';
import { RunRequestHandler } from '../core/permits/by-hand/run-request-handler.js';
import { RunRequestRecords } from '../core/permits/by-hand/run-request-records.js';
import { ExternalPermits } from '../core/permits/external/external-permits.js';
import { MissedRuns } from '../core/permits/missed/missed-runs.js';
import { Preferences } from '../core/permits/preferences.js';
import { SemaphoreDirectory } from '../core/permits/semaphore-directory.js';
import { answerWithin } from '../core/store/answer-within.js';
import { Cluster, Handovers } from '../leadership/index.js';
import {
  Audit,
  JobHistories,
  LivingNodes,
  NodeRegistry,
  RunArchivist,
  RunHistory,
  Runs,
  type StartEntry,
  newestOf,
  readRunFacts,
  timesOf,
} from '../operate/activity/index.js';
import { Alerts } from '../operate/alerts/index.js';
import {
  Archivist,
  CodeFollower,
  DefinitionArchive,
  DefinitionWriter,
  Definitions,
} from '../operate/definitions/index.js';
import {
  ApplicationWatch,
  CodeWatch,
  HealthCheck,
  JobWatch,
  LeaderWatch,
  NodesWatch,
  OverviewReader,
} from '../operate/insight/index.js';
import { stateLines } from '../operate/insight/state.js';
import { readState } from '../operate/insight/state-reader.js';
import { RunNow } from '../operate/run-now/run-now.js';
import { Tasks, stateLinesOf } from '../tasks/index.js';
import { EventLog } from './event-log.js';
import { type GatekeeperSettings, MEMBERSHIP_LEASE } from './gatekeeper-options.js';
import { Housekeeping } from './housekeeping.js';
import { LogFields } from './log-fields.js';
import { SemaphoreSync } from './semaphore-sync.js';

/** Replaces the machine's clocks and randomness in tests. */
export interface Environment {
  readonly nodeClock?: NodeClock;
  readonly random?: Randomness;
  /** A smaller number of shards, only for simulations. */
  readonly shards?: number;
  /** Whether this process lives for a moment, as a command does. Default false. */
  readonly isTransient?: boolean;
}

/**
 * Shortest time in ms for which a birth is announced, so that a node that knows the former cluster can object. Usually a
 * hint of the store notifies it at once.
 */
const OBJECTION = 2000;

/** The parts of one gatekeeper. */
export type Parts = ReturnType<typeof buildParts>;

/**
 * Makes the parts of a node from the lowest to the highest. Each gets what stands above it in this file; what stands
 * below it, it gets as a function. Opens and starts nothing: see {@link startParts} and {@link closeParts}.
 *
 * The code of tasks and of allocation groups is loaded when a node first uses it: `Tasks` and `Allocation` see to that.
 */
export function buildParts(
  settings: GatekeeperSettings,
  logger: GatekeeperLogger,
  isClosing: () => boolean,
  { nodeClock = systemClock, random = systemRandomness(), shards, isTransient = false }: Environment = {},
) {
  const { group, acquirer, application, version, store, callTimeout, sweepInterval, shutdownGrace: grace } = settings;
  /** Whether only this process writes to the store. */
  const isOwn = store.isOwn === true;
  /** Whether this node publishes itself and its jobs. */
  const isListed = settings.heartbeat > 0;
  const writesRuns = settings.history !== false;
  const history = typeof settings.history === 'object' ? settings.history : undefined;

  // The store, its clock and the events of the node.
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
  /** Opens another client of the store. It is also notified of this node's writes. The caller closes it. */
  const openStore = () => store.open({ callTimeout });

  // Permits: the semaphores of this node, and the definitions of its code.
  const archive = settings.persistence && new DefinitionArchive(settings.persistence, context);
  const archived = archive && (() => archive.archived());
  const announcement = Math.max(settings.definitionsDelay, isOwn ? 0 : Math.min(callTimeout, OBJECTION));
  const directory = new SemaphoreDirectory(context, {
    requireDefinitions: settings.requireDefinitions,
    isOwn,
    atOnce: isOwn,
    patience: announcement + callTimeout,
    ...(archived && { archived }),
    shards,
    announcement,
    sweepInterval,
    isTransient,
  });
  const { cells, declared, listing } = directory;
  for (const definition of settings.definitions) declared.register(definition);
  const declare = async (definitions: readonly SemaphoreDefinitionInput[]) => {
    await declared.registerAll(definitions);
    // Otherwise the first load of definitions creates them.
    if (housekeeping.mayLoad) housekeeping.loadSoon();
  };
  const external = new ExternalPermits(directory, context);
  const runRequests = new RunRequestRecords(context);
  const runRequestHandler = new RunRequestHandler(runRequests, context);
  const missedRuns = new MissedRuns(context);

  // The archive of definitions, and the audit log.
  const archivist =
    archive &&
    new Archivist(archive, context, {
      known: () => new Map([...watchedRecords(semaphoreSync), ...directory.definedRecords]),
      isGone: (name) => directory.shards.lacks(name),
    });
  const audit = new Audit(context, (name) => cells.peek(name).transact((record) => ({ result: record?.change?.id })));

  // The nodes of the cluster, and the past of their runs.
  const membership = new Membership(context, {
    // Without the option it has a lease, too: leadership may start it later.
    lease: settings.membership?.lease ?? Math.max(MEMBERSHIP_LEASE, shortestDuration(settings.clockTolerance)),
    version,
    metadata: settings.metadata,
    scopes: () => [...cluster.activeScopes, ...allocation.cluster.activeScopes],
  });
  const living = new LivingNodes(context, membership);
  const factsOf = (open: readonly StartEntry[]) => readRunFacts(open, { context, registry, membership, listing });
  const jobHistories = new JobHistories(context, () => timesOf(registry.jobs(), context), version);
  const runArchivist =
    history?.archive &&
    new RunArchivist(history.archive, context, grace, {
      history: (limit) => runHistory.read(limit),
      nodes: () => registry.nodes(),
    });
  const runHistory: RunHistory = new RunHistory(context, {
    isOn: writesRuns,
    keepsStacks: history?.stacks ?? true,
    isListed,
    archive: runArchivist,
    jobs: jobHistories,
    factsOf,
  });
  const runs = new Runs({ context, history: runHistory, histories: jobHistories, factsOf });
  const registry: NodeRegistry = new NodeRegistry(context, settings, membership, living);
  const nodes = () => registry.nodes();
  registry.tasks = () => tasks.work.list(tasks.handlers);
  registry.code = () => declared.announcement;
  registry.used = () => [...directory.demanded, ...tasks.submittedTypes.map((type) => TASK_PREFIX + type)];

  // Leadership, and what stands on it.
  const preferences = new Preferences(context, audit, cells.visit);
  const handovers = new Handovers(preferences, () => readMembership(context), grace);
  const join = () => {
    leaderWatch.start();
    return membership.start();
  };
  const leading = { context, handovers, grace, directory, declare, membership, join };
  const cluster: Cluster = new Cluster(leading, settings.leadership);
  // Registered now, so that ready() waits for them.
  if (settings.leadership.enabled) for (const definition of cluster.definitions) declared.register(definition);
  const moveHistory = new MoveHistory(context, writesRuns);
  const deciding = new Cluster(leading, { enabled: false, scopes: [ALLOCATION_SCOPE], lease: membership.lease });
  const allocation: Allocation = new Allocation(context, membership, deciding, moveHistory);
  for (const { name, ...options } of settings.allocation.groups) allocation.add(name, options);
  const leaderWatch: LeaderWatch = new LeaderWatch([cluster, allocation.cluster], context);

  // Tasks.
  const tasks: Tasks = new Tasks({
    context,
    directory,
    grace,
    mostBytes: settings.tasks.maxBytes,
    work: settings.tasks.work,
    maxRetainedBytes: settings.tasks.maxRetainedBytes,
    nodes: isListed ? nodes : undefined,
  });

  // Changes by people and by code.
  const definitions = new Definitions(cells, declared, audit, context, living, listing);
  const writer = new DefinitionWriter(cells.visit, declared, audit, context);
  const follower = new CodeFollower(declared, writer, context, {
    codeChanges: settings.codeChanges,
    isAnnounced: isListed,
    isAlone: isOwn,
    version,
    living,
    archived,
  });
  const ownJobs = () => registry.jobs();
  const runNow = new RunNow({ context, audit, requests: runRequests, nodes, ownJobs, visit: cells.visit });

  // Insight: what is wrong, and what is shown.
  const codeWatch = new CodeWatch(declared, context);
  const applicationWatch = new ApplicationWatch({ application, store, registry, declared }, context);
  const jobWatch = new JobWatch({ registry, declared, listing, runs }, context);
  // No other process has other code if only this one uses the store.
  const readers = [applicationWatch, jobWatch, ...(isOwn ? [] : [codeWatch])];
  const nodesWatch = isListed ? new NodesWatch(living, readers, context) : undefined;
  const health: HealthCheck = new HealthCheck(context, {
    runs: runHistory,
    audit,
    nodes: registry,
    listing,
    past: runs,
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
  });
  const explain = async (name: string) => directory.of(name).explain();
  const overviews = new OverviewReader({
    directory,
    context,
    health,
    registry,
    runs,
    unfollowed: (name) => codeWatch.sentenceOf(name) ?? follower.stuckSentenceOf(name),
    isLeftOver: (name) => codeWatch.isLeftOver(name),
  });
  const alerts: Alerts | undefined =
    settings.alerts &&
    new Alerts(context, settings.alerts, {
      health: () => health.report(),
      faultParts: () => health.faultParts(),
      overview: () => overviews.read(),
      newestRuns: async () => newestOf(await runs.recent()),
    });

  // Repeated work, and the log.
  const semaphoreSync: SemaphoreSync = new SemaphoreSync(directory, context, {
    isOwn,
    interval: sweepInterval,
    hasArchive: archive !== undefined,
    mayLoad: () => housekeeping.mayLoad,
    unknown: (name, text) => {
      context.changes.next(name);
      if (text !== undefined) archivist?.observe(name, text);
    },
  });
  const fields = settings.logFields === undefined ? undefined : new LogFields(settings.logFields, context.node);
  const lines = fields?.over(logger) ?? logger;
  const sweep = () => semaphoreSync.sweep().finally(() => archivist?.save());
  const load = async () => {
    const isDone = await declared.load();
    await follower.follow();
    return isDone;
  };
  const dump = async () => {
    for (const line of stateLines(await readState({ directory, context, health }))) lines.log(line);
    for (const line of await stateLinesOf(tasks)) lines.log(line);
  };
  const housekeeping: Housekeeping = new Housekeeping(context, { sweep, load, dump }, settings);
  const log = new EventLog(logger, nodeClock, fields);
  context.events.subscribe((event) => log.note(event));

  return {
    telemetry,
    context,
    openStore,
    directory,
    external,
    runRequestHandler,
    missedRuns,
    archivist,
    audit,
    membership,
    living,
    jobHistories,
    runArchivist,
    runHistory,
    runs,
    registry,
    handovers,
    cluster,
    moveHistory,
    allocation,
    leaderWatch,
    tasks,
    definitions,
    runNow,
    nodesWatch,
    health,
    explain,
    overviews,
    alerts,
    semaphoreSync,
    housekeeping,
  };
}

/** Records that this node keeps in memory only because it sweeps, by name. */
function watchedRecords(semaphoreSync: SemaphoreSync): [string, SemaphoreRecord][] {
  return [...semaphoreSync.watched].flatMap(({ name, known }) => (known ? [[name, known]] : []));
}

/**
 * Starts the parts over a verified store, in the order in which they need each other. The others start later: the module
 * starts tasks, leadership and allocation when the application has booted.
 */
export async function startParts(parts: Parts, { membership }: Pick<GatekeeperSettings, 'membership'>): Promise<void> {
  parts.context.clusterClock.start();
  await parts.semaphoreSync.start();
  await parts.directory.birth.start();
  await parts.housekeeping.start();
  if (membership) await parts.membership.start();
  for (const part of [parts.registry, parts.nodesWatch, parts.runArchivist, parts.alerts]) part?.start();
}

/**
 * Second half of a shutdown, after `drainParts`: stops what is repeated, releases permits, writes what is left to write,
 * and closes the store.
 */
export async function closeParts(parts: Parts): Promise<void> {
  const { context, directory, semaphoreSync } = parts;
  parts.housekeeping.stop();
  parts.nodesWatch?.stop();
  await parts.alerts?.close();
  const semaphores = [...directory.inUse.values()];
  await Promise.all([semaphoreSync.giveUpDuty(), ...semaphores.map((semaphore) => semaphore.close())]);
  await parts.archivist?.close();
  await parts.runHistory.close();
  const { jobHistories, runArchivist, moveHistory, audit, registry } = parts;
  await Promise.all([jobHistories, runArchivist, moveHistory, audit, registry].map((part) => part?.close()));
  context.clusterClock.stop();
  await endWatch(parts);
  await context.store.close();
  context.timers.close();
  parts.telemetry?.close();
  context.changes.complete();
  context.events.complete();
}

/** Ends the watch. An error must not stop the close of the store: an open connection would keep the process alive. */
async function endWatch({ context, semaphoreSync, directory, runRequestHandler }: Parts): Promise<void> {
  const { timers, timing, events } = context;
  const stop = () => Promise.all([semaphoreSync, directory.birth, runRequestHandler].map((watch) => watch.stop()));
  await answerWithin(timers, timing.callTimeout, 'end the watch', stop).catch((error: unknown) =>
    events.next({ type: 'problem', action: 'end the watch', error }),
  );
}
