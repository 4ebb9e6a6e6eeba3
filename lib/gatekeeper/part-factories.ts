import { ALLOCATION_SCOPE, Allocation, type AllocationParts } from '../allocation/index.js';
import { Membership } from '../core/members/index.js';
import type { Context } from '../core/context/context.js';
import { shortestDuration } from '../core/decision/index.js';
import type { BoundedArchive } from '../operate/definitions/index.js';
import { Cluster, type ClusterParts } from '../leadership/index.js';
import { SemaphoreDirectory } from '../core/permits/semaphore-directory.js';
import { type GatekeeperSettings, MEMBERSHIP_LEASE } from './gatekeeper-options.js';

/* The parts whose options are not simply those of the module. */

/**
 * Shortest time in ms for which a birth is announced, so that a node that knows the former cluster can object. Usually a
 * hint of the store notifies it at once.
 */
const OBJECTION = 2000;

export function createAllocation(parts: ClusterParts & Omit<AllocationParts, 'cluster'>): Allocation {
  const { lease } = parts.membership;
  const cluster = new Cluster(parts, { enabled: false, scopes: [ALLOCATION_SCOPE], lease });
  return new Allocation({ ...parts, cluster });
}

export function createCluster(
  { leadership: { scopes, lease, enabled } }: GatekeeperSettings,
  parts: ClusterParts & { readonly directory: SemaphoreDirectory },
): Cluster {
  const cluster = new Cluster(parts, { enabled, scopes, lease });
  // Registered now, so that ready() waits for them.
  if (enabled) for (const definition of cluster.definitions) parts.directory.declared.register(definition);
  return cluster;
}

/** Without the option it has a lease too: leadership may start it later. */
export function createMembership(
  context: Context,
  { membership, version, metadata }: GatekeeperSettings,
  scopes: () => readonly string[],
): Membership {
  const lease = membership?.lease ?? Math.max(MEMBERSHIP_LEASE, shortestDuration(context.timing.clockTolerance));
  return new Membership(context, { lease, version, metadata, scopes });
}

export function createDirectory(
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
