/** Metadata on a guarded method: its {@link ClusterSingletonMetadata}. */
export const CLUSTER_SINGLETON = Symbol('gatekeeper:cluster-singleton');

/**
 * What Nest injects into the instances that have guarded methods. The description is what Nest prints when it can't be
 * resolved, so it says what to do.
 */
export const GATEKEEPER = Symbol('GatekeeperService for @ClusterSingleton: import GatekeeperModule.forRoot({...})');

/** The property under which it is injected. */
export const GATEKEEPER_PROPERTY = Symbol('gatekeeper, of GatekeeperModule.forRoot({...})');
