import { Subject } from 'rxjs';
import { ClusterClock } from '../clock/index.js';
import type { NodeClock } from '../async/node-clock.js';
import { Timers } from '../async/timers.js';
import type { GatekeeperEvent } from './events.js';
import type { Instrumentation } from './instrumentation.js';
import type { StoreDefinition } from '../store/index.js';
import { type OnCall, Store } from '../store/store.js';
import type { Randomness } from '../async/random-ids.js';
import { Reachability } from './reachability.js';
import { Recoveries } from './recoveries.js';
import type { NodeIdentity } from './node-identity.js';

/** Times in ms that all parts use. */
export interface Timing {
  /** How far the clocks of nodes and members may differ. Leases end that much earlier for their holders. */
  readonly clockTolerance: number;
  /** Timeout of one call that asks the store. */
  readonly callTimeout: number;
  /**
   * Whether a new node must watch a permit for its whole duration before it takes it over, and must take a store without
   * data for one that lost them.
   */
  readonly strictStart: boolean;
}

/** A line of the log. With the option `logFields`: an entry with fields. */
export type LogLine = string | Readonly<Record<string, unknown>>;

/** The methods of Nest's LoggerService that are used. */
export interface GatekeeperLogger {
  /** Logs information. */
  log(message: LogLine): void;
  /** Logs a warning. */
  warn(message: LogLine): void;
  /** Logs an error. */
  error(message: LogLine): void;
  /** Logs a detail. */
  debug(message: LogLine): void;
}

/** Cluster time in ms, or this node's own time if cluster time is unknown. Only for display. */
export function timeOf({ clusterClock, nodeClock }: Pick<Context, 'clusterClock' | 'nodeClock'>): number {
  return Math.round(clusterClock.isFresh ? clusterClock.latest() : nodeClock.wall());
}

/** The reason why this node grants nothing at all. */
export interface GrantFault {
  readonly code: string;
  /** The reason in a sentence, for people. */
  readonly sentence: string;
}

/** Objects that all parts of one gatekeeper share. */
export interface Context {
  readonly node: NodeIdentity;
  readonly timing: Timing;
  readonly store: Store;
  readonly nodeClock: NodeClock;
  readonly timers: Timers;
  readonly clusterClock: ClusterClock;
  readonly random: Randomness;
  readonly events: Subject<GatekeeperEvent>;
  /** Names of semaphores whose record was changed by any node, as soon as this node sees the change. */
  readonly changes: Subject<string>;
  readonly reachability: Reachability;
  readonly recoveries: Recoveries;
  /** The reason why this node can't grant anything now. Does not ask the store. */
  readonly grantFault: () => GrantFault | undefined;
  /** Whether this node shuts down. From then on it acquires no new permit. */
  readonly isClosing: () => boolean;
  /** Absent without the option `telemetry`. */
  readonly instrumentation?: Instrumentation | undefined;
}

/** Creates the objects that all parts of one gatekeeper share. Opens nothing: the store is opened with its first use. */
export function createContext(
  { store: definition, clockTolerance, callTimeout, strictStart }: Timing & { readonly store: StoreDefinition },
  given: Pick<Context, 'node' | 'nodeClock' | 'random' | 'isClosing' | 'grantFault' | 'instrumentation'>,
): Context {
  const { node, nodeClock, instrumentation } = given;
  const events = new Subject<GatekeeperEvent>();
  const onCall: OnCall | undefined = instrumentation && ((...call) => instrumentation.storeCall(...call));
  const onUnproven = (count: number) =>
    events.next({ type: 'problem', action: 'listen to other nodes', error: unproven(count) });
  const onHintLost = (error: unknown) => events.next({ type: 'problem', action: 'offer a task to the workers', error });
  const open = () => definition.open({ writer: node.instance, callTimeout, onUnproven, onHintLost });
  const timers = new Timers(nodeClock);
  const store = new Store({ open, timers, callTimeout, onCall });
  const clocks = {
    now: () => store.now(),
    members: () => store.health().members,
  };
  const clusterClock = new ClusterClock(clocks, nodeClock, {
    tolerance: clockTolerance,
    strictStart,
    onSuspect: (reason) => events.next({ type: 'clock-suspect', reason }),
  });
  return {
    ...given,
    timing: { clockTolerance, callTimeout, strictStart },
    store,
    timers,
    clusterClock,
    events,
    changes: new Subject<string>(),
    reachability: new Reachability(events, nodeClock, callTimeout),
    recoveries: new Recoveries(nodeClock),
  };
}

function unproven(count: number): Error {
  return new Error(
    `${count} messages had no seal of this cluster, and were only taken for a reason to read: another program sends to the ` +
      'channels of the store, or its hint key was replaced. See "Who can read and write" in docs/guarantees.md',
  );
}
