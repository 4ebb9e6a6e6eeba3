/** Key of a guarded method's {@link ClusterSingletonMetadata}. */
export const CLUSTER_SINGLETON = Symbol('gatekeeper:cluster-singleton');

/**
 * The property into which Nest injects the GatekeeperService. If there is none, Nest prints the symbol's description,
 * so the description says what to do.
 */
export const GATEKEEPER_PROPERTY = Symbol(
  'GatekeeperService for @ClusterSingleton: import GatekeeperModule.forRoot({...}), ' +
    'or GatekeeperTestingModule.forRoot() of nestjs-gatekeeper/testing',
);
