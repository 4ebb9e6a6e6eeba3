import { Injectable } from '@nestjs/common';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import { ClusterSingleton, RunSkippedError, memory } from 'nestjs-gatekeeper';
import { until, useApps } from '../support/apps.js';

/** A consumer of a queue whose message must not count as done when its handler was skipped. */
@Injectable()
class Consumer {
  readonly ends: (() => void)[] = [];
  readonly ticks: string[] = [];

  @ClusterSingleton('import', '10s', { onSkip: 'throw', atLeastFor: 0 })
  async loud() {
    await new Promise<void>((resolve) => this.ends.push(resolve));
    return 'imported';
  }

  @ClusterSingleton('import', '10s', { wait: '20s' })
  async patient(): Promise<string | undefined> {
    return 'imported after all';
  }

  @ClusterSingleton('import', '10s', { wait: 100, onSkip: 'throw' })
  async bounded() {
    return 'never';
  }

  @ClusterSingleton('tick above', '10s', { wait: '5s' })
  @Interval(50)
  async above() {
    this.ticks.push('above');
  }

  @Interval(50)
  @ClusterSingleton('tick below', '10s', { wait: '5s' })
  async below() {
    this.ticks.push('below');
  }
}

describe('a guarded method whose skip must be heard', () => {
  const apps = useApps();

  async function two() {
    const store = memory();
    const boot = () => apps.boot({ imports: [ScheduleModule.forRoot()], providers: [Consumer] }, {}, store);
    const [one, other] = [await boot(), await boot()];
    const consumer = one.get(Consumer);
    const running = consumer.loud();
    await until(() => consumer.ends.length === 1);
    return { running, end: () => consumer.ends[0]!(), one, other: other.get(Consumer), others: other };
  }

  it("rejects with onSkip: 'throw', and the skip stands in the events all the same", async () => {
    const { running, end, other, others } = await two();
    const error = await other.loud().catch((fault: Error) => fault);
    expect(error).toBeInstanceOf(RunSkippedError);
    expect(error).toMatchObject({ semaphore: 'import', job: 'Consumer.loud', reason: 'no-permit' });
    expect(others.events).toContainEqual(expect.objectContaining({ type: 'run-skipped', job: 'Consumer.loud' }));
    end();
    expect(await running).toBe('imported');
  });

  it('waits for the permit with `wait`, and gives it back', async () => {
    const { running, end, one, other } = await two();
    const waiting = other.patient();
    end();
    await running;
    expect(await waiting).toBe('imported after all');
    expect(await one.get(Consumer).patient()).toBe('imported after all');
  });

  it('rejects when it waited in vain', async () => {
    const { running, end, other } = await two();
    await expect(other.bounded()).rejects.toMatchObject({ code: 'run-skipped', reason: 'no-permit' });
    end();
    await running;
  });

  it('takes turns with the other node when it waits at each tick, above @Interval and below', async () => {
    const { running, end, one, other } = await two();
    for (const { ticks } of [one.get(Consumer), other]) {
      await until(() => ticks.filter((tick) => tick === 'above').length >= 2);
      await until(() => ticks.filter((tick) => tick === 'below').length >= 2);
    }
    end();
    await running;
  });
});
