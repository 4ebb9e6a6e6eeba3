import { type NodeClock, systemClock } from '../async/node-clock.js';
import { type Randomness, systemRandomness } from '../async/random-ids.js';
import { Audit, NodeRegistry, RunHistory } from '../activity/index.js';
import type { Context, GatekeeperLogger } from '../context/context.js';
import { Archivist, BoundedArchive, Definitions } from '../definitions/index.js';
import { HealthCheck } from '../insight/index.js';
import { stateLines } from '../insight/state.js';
import { readState } from '../insight/state-reader.js';
import { ExternalPermits } from '../permits/external/external-permits.js';
import { SemaphoreDirectory } from '../permits/semaphore-directory.js';
import { StoreWatcher } from '../permits/store-watcher.js';
import { createContext } from './create-context.js';
import { EventLog } from './event-log.js';
import type { GatekeeperSettings } from './gatekeeper-options.js';
import { Housekeeping } from './housekeeping.js';

/** The machine's clocks and chance; tests give others. */
export interface Environment {
  readonly nodeClock?: NodeClock;
  readonly random?: Randomness;
}

/** Everything that one gatekeeper is made of. */
export interface Parts {
  readonly context: Context;
  readonly directory: SemaphoreDirectory;
  readonly definitions: Definitions;
  readonly archivist?: Archivist | undefined;
  readonly registry: NodeRegistry;
  readonly audit: Audit;
  readonly runHistory: RunHistory;
  readonly external: ExternalPermits;
  readonly watcher: StoreWatcher;
  readonly health: HealthCheck;
  readonly housekeeping: Housekeeping;
}

/** Makes the parts and connects them. Starts nothing. */
export function createParts(
  settings: GatekeeperSettings,
  logger: GatekeeperLogger,
  isClosing: () => boolean,
  { nodeClock = systemClock, random = systemRandomness() }: Environment = {},
): Parts {
  const { group, acquirer } = settings;
  const context = createContext(settings, {
    node: { group, acquirer, instance: random.instance() },
    nodeClock,
    random,
    isClosing,
    grantFault: () => health.report().faults.find(({ stopsGrants }) => stopsGrants),
  });
  const archive = settings.persistence && new BoundedArchive(settings.persistence, context);
  const directory = createDirectory(context, settings, archive);
  const archivist = archive && new Archivist(archive, context, () => directory.records);
  const audit = new Audit(context);
  const runHistory = new RunHistory(context, settings.history);
  const registry = new NodeRegistry(context, settings, runHistory);
  const health: HealthCheck = new HealthCheck(context, { runs: runHistory, audit, nodes: registry, archive });
  const definitions = new Definitions(directory.recordClients, directory.declared, audit, context, () =>
    registry.nodes(),
  );
  const external = new ExternalPermits((name, work) => directory.visit(name, work), context);
  const watcher: StoreWatcher = new StoreWatcher(directory, context, () => housekeeping.mayLoad);
  const dump = async () => {
    for (const line of stateLines(await readState({ directory, context, health }))) logger.log(line);
  };
  const sweep = () => watcher.sweep().finally(() => archivist?.save());
  const housekeeping: Housekeeping = new Housekeeping(
    context,
    { sweep, load: () => directory.declared.load(), dump },
    settings,
  );
  const log = new EventLog(logger);
  context.events.subscribe((event) => log.note(event));
  return {
    context,
    directory,
    definitions,
    archivist,
    registry,
    audit,
    runHistory,
    external,
    watcher,
    health,
    housekeeping,
  };
}

function createDirectory(
  context: Context,
  { requireDefinitions, definitionsDelay, callTimeout, store, definitions }: GatekeeperSettings,
  archive: BoundedArchive | undefined,
): SemaphoreDirectory {
  const archived = archive && (() => archive.archived());
  const loading = { atOnce: store.isOwn === true, patience: definitionsDelay + callTimeout, archived };
  const directory = new SemaphoreDirectory(context, { requireDefinitions, ...loading });
  for (const definition of definitions) directory.declared.register(definition);
  return directory;
}
