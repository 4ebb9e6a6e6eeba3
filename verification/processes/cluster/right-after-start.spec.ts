import { Injectable, type INestApplicationContext, type OnApplicationBootstrap } from '@nestjs/common';
import { ScheduleModule, Timeout } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import {
  ClusterSingleton,
  GatekeeperModule,
  GatekeeperService,
  type RunResult,
  type SemaphoreDefinitionInput,
  hazelcast,
} from 'nestjs-gatekeeper';
import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { eventually } from '../../../test/contract/eventually.js';
import { figure } from './figure.js';
import { describeOnHazelcast } from '../../needs/members.js';

@Injectable()
class Jobs implements OnApplicationBootstrap {
  readonly runs: string[] = [];
  atBootstrap?: RunResult<number>;

  constructor(private readonly gatekeeper: GatekeeperService) {}

  async onApplicationBootstrap(): Promise<void> {
    this.atBootstrap = await this.gatekeeper.run('at bootstrap', () => 1, { duration: '2s' });
  }

  @ClusterSingleton('first', '2s')
  @Timeout(0)
  async first(): Promise<void> {
    this.runs.push('first');
  }

  @Timeout(250)
  @ClusterSingleton('second', '2s')
  async second(): Promise<void> {
    this.runs.push('second');
  }
}

/** Called one after another, so that some meet the first round of clock readings. */
const JOBS = Array.from({ length: 20 }, (_, index) => `job ${index}`);

describeOnHazelcast('an app on a real member, right after its start', () => {
  let cluster: HazelcastCluster;
  const apps: INestApplicationContext[] = [];

  beforeAll(async () => void (cluster = await startHazelcast({ clusterName: 'right-after-start' })));
  afterEach(async () => void (await Promise.all(apps.splice(0).map((app) => app.close()))));
  afterAll(() => cluster?.stop());

  async function start(definitions: SemaphoreDefinitionInput[] = [], definitionsDelay = 1500) {
    const { clusterName, addresses: members } = cluster;
    // Time for several rounds of clock readings: on a busy machine some of them take too long to count.
    const options = { store: hazelcast({ clusterName, members }), definitions, definitionsDelay, callTimeout: '10s' };
    const imports = [ScheduleModule.forRoot(), GatekeeperModule.forRoot(options)];
    const app = await Test.createTestingModule({ imports, providers: [Jobs] }).compile();
    apps.push(app);
    await app.init();
    return { app, jobs: app.get(Jobs), gatekeeper: app.get(GatekeeperService) };
  }

  it('loses no call and no @Timeout to the first connection, nor to the delay of definitions', async () => {
    const { jobs, gatekeeper } = await start();
    expect(jobs.atBootstrap).toEqual({ executed: true, value: 1 });
    await eventually('both timeouts ran', () => jobs.runs.length === 2);
    await gatekeeper.ready();
  });

  it('takes over what expired before it started, at whatever moment it is asked', async () => {
    const definitions = JOBS.map((name) => ({ name, duration: '2s' }));
    const { gatekeeper: former } = await start(definitions, 0);
    await former.ready();
    for (const name of JOBS) await former.run(name, () => 1);
    await new Promise((resolve) => setTimeout(resolve, 4000)); // the permits run out, and nothing tells when
    const began = performance.now();
    const { gatekeeper } = await start(definitions);
    const results = await Promise.all(
      JOBS.map(async (name, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 3)); // before, in and after the first round of readings
        return gatekeeper.run(name, () => 1);
      }),
    );
    figure('ran all that had expired', performance.now() - began);
    expect(results).toEqual(JOBS.map(() => ({ executed: true, value: 1 })));
  });
});
