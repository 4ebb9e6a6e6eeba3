import { type GatekeeperModuleOptions, type StoreDefinition, hazelcast, memory, remote } from 'nestjs-gatekeeper';
import { postgres } from 'nestjs-gatekeeper/postgres';
import { redis } from 'nestjs-gatekeeper/redis';
import { openTelemetry } from 'nestjs-gatekeeper/opentelemetry';
import { QUEUES, QUEUE_GROUP } from './delivery/queues.js';
import type { Environment } from './environment.js';
import type { Metrics } from './metrics.js';

/**
 * All that the gatekeeper has to know. Durations are a few seconds here so that one can watch permits move; a job that
 * runs once a night would rather have minutes.
 */
export function gatekeeperConfig(environment: Environment, { meterProvider }: Metrics): GatekeeperModuleOptions {
  return {
    group: environment.group,
    acquirer: environment.acquirer,
    store: storeOf(environment),
    definitions: [
      { name: 'nightly-export', groupPattern: 'production', permits: 1, duration: '6s' },
      { name: 'mailing', groupPattern: 'production', permits: 2, duration: '8s' },
      // "report" is not listed: its decorator's duration makes a definition, for any group, with one permit.
    ],
    // One node leads: it polls for messages.
    leadership: { enabled: true, lease: environment.lease },
    // The queues of messages are divided over the nodes. A dead node's queues go to others when its lease is over.
    allocation: { groups: [{ name: QUEUE_GROUP, resources: () => QUEUES, id: (name) => name }] },
    membership: { lease: environment.lease },
    // Definitions are put into the store this long after the start, and only where they are missing.
    definitionsDelay: '1s',
    // How long a run that goes on may hold up the shutdown. Its permit's signal aborts after that.
    shutdownGrace: '2s',
    // Served at /metrics.
    telemetry: openTelemetry({ meterProvider }),
    console: { tokens: [{ token: environment.consoleToken, name: 'ann', role: 'define' }] },
  };
}

/** An application has one of these. The schema and the prefix keep the sample apart from others on the same server. */
export function storeOf(environment: Environment): StoreDefinition {
  switch (environment.store) {
    case 'postgres':
      return postgres({ connectionString: environment.databaseUrl, schema: 'gatekeeper_sample' });
    case 'redis':
      return redis({ url: environment.redisUrl, prefix: 'gatekeeper-sample:' });
    case 'memory':
      return memory();
    case 'remote':
      return remote({ url: environment.storeUrl, token: environment.storeToken });
    case 'hazelcast':
      return hazelcast({ clusterName: environment.hazelcastCluster, members: environment.hazelcastMembers });
  }
}
