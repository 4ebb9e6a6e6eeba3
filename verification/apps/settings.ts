import type { GatekeeperOptions, OwnClientOptions } from 'nestjs-gatekeeper';

/** Settings that a test passes to the app. */
export interface AppSettings {
  /** Its acquirer's name. */
  readonly name: string;
  readonly clusterName: string;
  /** `host:port` of each. */
  readonly members: readonly string[];
  readonly jobs: readonly JobName[];
  /** The guarded resource that the report is written to: a URL; for the contender, the path of a socket. */
  readonly resource?: string;
  readonly options?: Partial<Omit<GatekeeperOptions, 'store'>>;
  /** A server in place of the members: the address of a PostgreSQL, or of a Redis. */
  readonly server?: string;
  /** Further options of the store. */
  readonly store?: Partial<OwnClientOptions>;
  readonly contention?: Contention;
  /**
   * A folder for sockets, for an app whose network the test can't reach: it serves requests at `<name>.http` there, and
   * listens at `<name>.wake`, in place of ports.
   */
  readonly sockets?: string;
}

/** Semaphores of a contender. */
export interface Contention {
  readonly seed: number;
  /** Each is acquired, worked under and given back over and over. */
  readonly semaphores: readonly {
    readonly name: string;
    readonly permits: number;
    readonly duration: number;
    /** Whether no code defines it: each call asks for the duration. */
    readonly isOnDemand?: boolean;
  }[];
  /** Name of the semaphore of a guarded method. */
  readonly job: string;
  /** Allocation group in which all contenders take part. */
  readonly group: { readonly name: string; readonly resources: readonly string[] };
  /** A deliberate mistake: ms for which a contender counts on its resources after its membership lease. */
  readonly overstay?: number;
}

export type JobName = 'both-orders' | 'short' | 'long' | 'errand' | 'report' | 'contender' | 'task-worker';

/** In the history, a resource is a semaphore with one permit: its owner holds it. */
export const ownerSemaphore = (resource: string): string => `owner:${resource}`;

/** Name of the variable that carries the settings, as JSON. */
export const SETTINGS = 'TEST_APP';

export function readSettings(env = process.env): AppSettings {
  const text = env[SETTINGS];
  if (text === undefined)
    throw new Error(`${SETTINGS} is missing: verification/processes/cluster/node-process.ts starts this app`);
  return JSON.parse(text) as AppSettings;
}
