import { describe, expect, it } from '@jest/globals';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import { ClusterSingleton, PermitLostError, currentPermit, memory } from 'nestjs-gatekeeper';
import { until, useApps } from '../support/apps.js';
import { StartedTimers } from '../support/started-timers.js';

@Injectable()
class Jobs implements OnModuleDestroy {
  runs = 0;
  isOver = false;
  isDestroyed = false;
  signal?: AbortSignal;
  end!: () => void;

  @ClusterSingleton('long', '10s')
  async long() {
    this.runs++;
    this.signal = currentPermit().signal;
    await new Promise<void>((resolve) => (this.end = resolve));
    this.isOver = true;
  }

  @ClusterSingleton('tick', '10s')
  @Interval(5)
  async tick() {
    this.runs++;
  }

  onModuleDestroy() {
    this.isDestroyed = true;
  }
}

describe('app.close() in the middle of a run', () => {
  const { boot } = useApps();

  it('waits for the run, and gives its permit back afterwards', async () => {
    const store = memory();
    const one = await boot({ providers: [Jobs] }, {}, store);
    const other = await boot({ providers: [Jobs] }, {}, store);
    const jobs = one.get(Jobs);
    const running = jobs.long();
    await until(() => jobs.runs === 1);
    let isClosed = false;
    const closing = one.app.close().then(() => (isClosed = true));
    await until(() => jobs.isDestroyed);
    expect([isClosed, jobs.isOver]).toEqual([false, false]);
    expect(await other.get(Jobs).long()).toBeUndefined();
    expect(other.get(Jobs).runs).toBe(0);
    jobs.end();
    await Promise.all([running, closing]);
    expect(jobs.isOver).toBe(true);
    void other.get(Jobs).long();
    await until(() => other.get(Jobs).runs === 1);
    other.get(Jobs).end();
  });

  it('begins no new run while it waits and after', async () => {
    const { app, get, events } = await boot({ imports: [ScheduleModule.forRoot()], providers: [Jobs] });
    const jobs = get(Jobs);
    await until(() => jobs.runs > 2);
    const running = jobs.long();
    await until(() => jobs.signal !== undefined);
    const closing = app.close();
    await until(() => jobs.isDestroyed);
    const { runs } = jobs;
    await until(() => events.some((event) => event.type === 'run-skipped' && event.reason === 'closing'));
    jobs.end();
    await Promise.all([running, closing]);
    expect(jobs.runs).toBe(runs);
    expect(await jobs.tick()).toBeUndefined();
    expect(jobs.runs).toBe(runs);
  });

  it('tells a run that takes longer than shutdownGrace, and leaves its permit to expire', async () => {
    const store = memory();
    const one = await boot({ providers: [Jobs] }, { shutdownGrace: 50 }, store);
    const other = await boot({ providers: [Jobs] }, {}, store);
    const jobs = one.get(Jobs);
    const running = jobs.long();
    await until(() => jobs.runs === 1);
    await one.app.close();
    expect(jobs.signal!.reason).toBeInstanceOf(PermitLostError);
    expect(jobs.signal!.reason).toMatchObject({ reason: 'closing' });
    await other.get(Jobs).long();
    expect(other.get(Jobs).runs).toBe(0);
    jobs.end();
    await running;
  });

  it('leaves no timer behind', async () => {
    const timers = new StartedTimers();
    const { app, get } = await boot({ providers: [Jobs] }, { stateDump: '10s' });
    const running = get(Jobs).long();
    await until(() => get(Jobs).runs === 1);
    expect(timers.going.size).toBeGreaterThan(0);
    get(Jobs).end();
    await running;
    await app.close();
    expect(await timers.left()).toBe(0);
  });
});
