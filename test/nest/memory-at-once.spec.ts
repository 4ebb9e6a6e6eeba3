import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { Timeout, ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import {
  ClusterSingleton,
  Gatekeeper,
  GatekeeperModule,
  GatekeeperService,
  type RunResult,
  guardWith,
  memory,
  parseGatekeeperOptions,
} from 'nestjs-gatekeeper';
import { until, useApps } from '../support/apps.js';

@Injectable()
class Jobs {
  timeouts = 0;

  @ClusterSingleton('export', '10s')
  async export(): Promise<string | undefined> {
    return 'exported';
  }

  @ClusterSingleton('configured')
  async configured(): Promise<string | undefined> {
    return 'ran';
  }

  @ClusterSingleton('timeout', '10s')
  @Timeout(0)
  async timeout() {
    this.timeouts++;
  }
}

/** Uses the gatekeeper in each phase of the start. */
@Injectable()
class Eager implements OnModuleInit, OnApplicationBootstrap {
  readonly results: RunResult<string>[] = [];

  constructor(private readonly gatekeeper: GatekeeperService) {}

  onModuleInit = () => this.#run();
  onApplicationBootstrap = () => this.#run();

  async #run() {
    this.results.push(await this.gatekeeper.run('configured', () => 'ran'));
  }
}

const definitions = [{ name: 'configured', duration: '10s' }];
const silent = { log() {}, warn() {}, error() {}, debug() {} };

describe('with memory(), whatever definitionsDelay is,', () => {
  const { start } = useApps();
  const imports = (store = memory()) => [ScheduleModule.forRoot(), GatekeeperModule.forRoot({ store, definitions })];

  it('a guarded method runs right after the start, and its definition is known', async () => {
    const app = await start({ imports: imports(), providers: [Jobs] });
    const gatekeeper = app.get(GatekeeperService);
    const known = (await gatekeeper.state()).semaphores.map(({ name }) => name);
    expect(known.toSorted()).toEqual(['configured', 'export', 'timeout']);
    expect(await app.get(Jobs).export()).toBe('exported');
    expect(await gatekeeper.explain('configured')).toMatchObject({ outcome: 'granted' });
  });

  it('runs in onModuleInit and onApplicationBootstrap are not skipped', async () => {
    const app = await start({ imports: imports(), providers: [Eager] });
    expect(app.get(Eager).results).toEqual([
      { executed: true, value: 'ran' },
      { executed: true, value: 'ran' },
    ]);
  });

  it('a guarded @Timeout(0) runs', async () => {
    const app = await start({ imports: imports(), providers: [Jobs] });
    await until(() => app.get(Jobs).timeouts === 1);
  });

  it('a guarded method runs in a module that is only compiled', async () => {
    const module = await Test.createTestingModule({ imports: imports(), providers: [Jobs] }).compile();
    expect(await module.get(Jobs).export()).toBe('exported');
    expect(await module.get(Jobs).configured()).toBe('ran');
    await module.close();
  });

  it('a guarded method runs over a gatekeeper that was never started', async () => {
    const gatekeeper = new Gatekeeper(parseGatekeeperOptions({ store: memory(), definitions }), silent);
    const jobs = guardWith(new Jobs(), gatekeeper);
    expect(await jobs.export()).toBe('exported');
    expect(await jobs.configured()).toBe('ran');
    await using permit = await gatekeeper.tryAcquire('configured', { holder: 'a test' });
    expect(permit).toBeUndefined();
    await gatekeeper.close();
  });

  it('a permit is had by tryAcquire and acquire over a gatekeeper that was never started', async () => {
    const gatekeeper = new Gatekeeper(parseGatekeeperOptions({ store: memory(), definitions }), silent);
    await using permit = await gatekeeper.tryAcquire('configured');
    expect(permit?.isHeld).toBe(true);
    await using other = await gatekeeper.acquire('configured', { timeout: 0 });
    expect(other.id).toBe(permit?.id);
    await gatekeeper.close();
  });

  it('what an operator changed is not overwritten by a second application over the same memory', async () => {
    const store = memory();
    const one = await start({ imports: imports(store) });
    await one.get(GatekeeperService).definitions.pause('configured', { by: 'ann' });
    const other = await start({ imports: imports(store), providers: [Jobs] });
    expect(await other.get(Jobs).configured()).toBeUndefined();
    expect(await other.get(GatekeeperService).explain('configured')).toMatchObject({ reason: 'paused' });
  });
});
