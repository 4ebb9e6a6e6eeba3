import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { ClusterSingleton, GatekeeperModule, GatekeeperService, currentPermit, memory } from 'nestjs-gatekeeper';

@Injectable()
class Jobs {
  runs = 0;
  tokens: number[] = [];

  @ClusterSingleton('above', '10s')
  @Cron('* * * * * *')
  async above() {
    this.runs++;
    this.tokens.push(currentPermit().token);
    return 'done';
  }
}

async function boot(store = memory()) {
  const module = await Test.createTestingModule({
    imports: [ScheduleModule.forRoot(), GatekeeperModule.forRoot({ store, definitionsDelay: 1 })],
    providers: [Jobs],
  }).compile();
  const app = module.createNestApplication();
  await app.init();
  return app;
}

describe('@ClusterSingleton', () => {
  it('runs a method on one node', async () => {
    const store = memory();
    const one = await boot(store);
    const other = await boot(store);
    await until(async () => (await one.get(GatekeeperService).state()).semaphores.length === 1);
    expect(await one.get(Jobs).above()).toBe('done');
    expect(await other.get(Jobs).above()).toBeUndefined();
    expect(await one.get(Jobs).above()).toBe('done');
    expect(new Set(one.get(Jobs).tokens).size).toBe(1);
    await one.close();
    expect(await other.get(Jobs).above()).toBe('done');
    await other.close();
  });
});

async function until(condition: () => Promise<boolean>) {
  for (;;) {
    if (await condition()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
