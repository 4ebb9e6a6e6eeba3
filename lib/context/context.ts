import type { Subject } from 'rxjs';
import type { ClusterClock } from '../clock/index.js';
import type { NodeClock } from '../async/node-clock.js';
import type { Timers } from '../async/timers.js';
import type { GatekeeperEvent } from './events.js';
import type { ObservedStore } from '../stores/observed-store.js';
import type { Randomness } from '../async/random-ids.js';
import type { Reachability } from './reachability.js';
import type { NodeIdentity } from './node-identity.js';

/** Times in ms that all parts use. */
export interface Timing {
  readonly clockTolerance: number;
  /** The longest that one call may ask the store. */
  readonly callTimeout: number;
  /** This node has just started and knows nothing of the past: it takes over no permit before it has watched it. */
  readonly strictStart: boolean;
}

/** Nest's LoggerService, as far as it is used. */
export interface GatekeeperLogger {
  /** Logs at the level of information. */
  log(message: string): void;
  /** Logs a warning. */
  warn(message: string): void;
  /** Logs an error. */
  error(message: string): void;
  /** Logs a detail. */
  debug(message: string): void;
}

/** Cluster time in ms, or the node's own time while cluster time is unknown. Only for display. */
export function timeOf({ clusterClock, nodeClock }: Pick<Context, 'clusterClock' | 'nodeClock'>): number {
  return Math.round(clusterClock.isFresh ? clusterClock.latest() : nodeClock.wall());
}

/** The reason why this node grants nothing at all. */
export interface GrantFault {
  readonly code: string;
  /** For people. */
  readonly sentence: string;
}

/** Everything that all parts of one gatekeeper share. */
export interface Context {
  readonly node: NodeIdentity;
  readonly timing: Timing;
  readonly store: ObservedStore;
  readonly nodeClock: NodeClock;
  readonly timers: Timers;
  readonly clusterClock: ClusterClock;
  readonly random: Randomness;
  readonly events: Subject<GatekeeperEvent>;
  /** Names of semaphores whose record has changed, by a write of any node that this node saw. */
  readonly changes: Subject<string>;
  readonly reachability: Reachability;
  /** The reason why this node can't grant anything now, by what is known without asking. */
  readonly grantFault: () => GrantFault | undefined;
  /** Becomes true when the node begins to shut down: from then on nothing new is acquired. */
  readonly isClosing: () => boolean;
}
