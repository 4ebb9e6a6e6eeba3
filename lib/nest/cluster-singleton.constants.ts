import { sharedKey } from '../core/copies/shared.js';

/** Key of a guarded method's {@link ClusterSingletonMetadata}. */
export const CLUSTER_SINGLETON = sharedKey('cluster-singleton');

/**
 * The property into which Nest injects the GatekeeperService. If there is none, Nest prints the symbol's description,
 * so the description says what to do. Other words need another format: they are the key.
 */
export const GATEKEEPER_PROPERTY: symbol = sharedKey(
  'GatekeeperService for @ClusterSingleton: import GatekeeperModule.forRoot({...}), ' +
    'or GatekeeperTestingModule.forRoot() of nestjs-gatekeeper/testing',
);
