import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Client, ReconnectMode } from 'hazelcast-client';
import { GatekeeperModule, hazelcast } from 'nestjs-gatekeeper';
import { readSoakSettings } from './soak.settings.js';
import { TickingJobs } from './ticking.jobs.js';

const { name, clusterName, members, isClientGiven, options } = readSoakSettings();

/** Undefined where the gatekeeper makes its own. */
export const givenClient = isClientGiven
  ? await Client.newHazelcastClient({
      clusterName,
      network: { clusterMembers: [...members] },
      flakeIdGenerators: { 'gatekeeper.clock*': { prefetchCount: 1 } },
      connectionStrategy: {
        reconnectMode: ReconnectMode.ASYNC,
        connectionRetry: { clusterConnectTimeoutMillis: 600_000 },
      },
      // As long as the gatekeeper's own client tries: by default calls of an outage pile up for two minutes.
      properties: { 'hazelcast.logging.level': 'OFF', 'hazelcast.client.invocation.timeout.millis': 10_000 },
    })
  : undefined;

@Module({
  imports: [
    ScheduleModule.forRoot(),
    GatekeeperModule.forRoot({
      acquirer: name,
      store: hazelcast(givenClient ? { client: givenClient } : { clusterName, members }),
      definitionsDelay: 500,
      ...options,
    }),
  ],
  providers: [TickingJobs],
})
export class SoakModule {}
