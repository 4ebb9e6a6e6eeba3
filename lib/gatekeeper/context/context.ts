import type { Subject } from 'rxjs';
import type { ClusterClock, NodeClock } from '../../clock/index.js';
import type { Alarm } from './alarm.js';
import type { GatekeeperEvent } from './events.js';
import type { HealthCheck } from '../health/health-check.js';
import type { ObservedStore } from '../health/observed-store.js';
import type { Reachability } from './reachability.js';

/** One running process of the application, as permits and patterns know it. */
export interface NodeIdentity {
  readonly group: string;
  readonly acquirer: string;
  /** Random per process start. */
  readonly instance: string;
}

/** Times in ms that every part goes by. */
export interface Timing {
  readonly clockTolerance: number;
  /** The longest that one call may ask the store. */
  readonly callTimeout: number;
  /** This node has just started and knows nothing of what was: nobody is taken over from before it has watched. */
  readonly strictStart: boolean;
}

/** Nest's LoggerService, as far as it is used. */
export interface GatekeeperLogger {
  log(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  debug(message: string): void;
}

/** Where chance comes from: tests put a seeded one in its stead. */
export interface Randomness {
  /** 0 <= x < 1 */
  number(): number;
  /** A text that nobody else makes. */
  id(): string;
  /** The id of this process: a random UUID. */
  instance(): string;
}

/** Cluster time in ms, or the node's own while that is not known: for what is only read by people. */
export function timeOf({ clusterClock, nodeClock }: Pick<Context, 'clusterClock' | 'nodeClock'>): number {
  return Math.round(clusterClock.isFresh ? clusterClock.latest() : nodeClock.wall());
}

/** What all parts of one gatekeeper share. */
export interface Context {
  readonly node: NodeIdentity;
  readonly timing: Timing;
  readonly store: ObservedStore;
  readonly nodeClock: NodeClock;
  readonly alarm: Alarm;
  readonly clusterClock: ClusterClock;
  readonly random: Randomness;
  readonly events: Subject<GatekeeperEvent>;
  /** Names of semaphores of whose record this node saw another text, written by anyone. */
  readonly news: Subject<string>;
  readonly reachability: Reachability;
  readonly health: HealthCheck;
  /** Becomes true when the node begins to shut down: from then on nothing new is acquired. */
  readonly isClosing: () => boolean;
}
