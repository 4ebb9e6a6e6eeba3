/** Metadata on a guarded method: its {@link ClusterSingletonMetadata}. */
export const CLUSTER_SINGLETON = Symbol('gatekeeper:cluster-singleton');

/**
 * The property into which Nest injects the GatekeeperService. Nest prints its description when there is none to inject,
 * so it says what to do.
 */
export const GATEKEEPER_PROPERTY = Symbol(
  'GatekeeperService for @ClusterSingleton: import GatekeeperModule.forRoot({...}), ' +
    'or GatekeeperTestingModule.forRoot() of nestjs-gatekeeper/testing',
);
