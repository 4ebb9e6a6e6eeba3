import { Injectable } from '@nestjs/common';
import { ClusterSingleton, memory } from 'nestjs-gatekeeper';
import { until, useApps } from '../support/apps.js';

class Base {
  readonly runs: string[] = [];
  readonly pending: (() => void)[] = [];

  @ClusterSingleton('inherited', '10s')
  async inherited(): Promise<string | undefined> {
    await new Promise<void>((resolve) => this.pending.push(resolve));
    return this.constructor.name;
  }

  @ClusterSingleton('overridden', '10s')
  async overridden(): Promise<string | undefined> {
    this.runs.push('base');
    return 'base';
  }

  @ClusterSingleton('decorated twice', '10s')
  async decoratedTwice(): Promise<string | undefined> {
    this.runs.push('base');
    return 'base';
  }
}

@Injectable()
class One extends Base {
  override async overridden() {
    this.runs.push('one');
    return `one over ${await super.overridden()}`;
  }

  @ClusterSingleton('decorated twice', '10s')
  override async decoratedTwice(): Promise<string | undefined> {
    this.runs.push('one');
    return `one over ${await super.decoratedTwice()}`;
  }
}

@Injectable()
class Two extends Base {}

describe('inheritance', () => {
  const { boot } = useApps();

  it('guards an inherited method', async () => {
    const store = memory();
    const one = await boot({ providers: [Two] }, {}, store);
    const other = await boot({ providers: [Two] }, {}, store);
    const running = one.get(Two).inherited();
    await until(() => one.get(Two).pending.length === 1);
    expect(await other.get(Two).inherited()).toBeUndefined();
    one.get(Two).pending[0]!();
    expect(await running).toBe('Two');
  });

  it('guards what an overriding method calls by super, and not the overriding method', async () => {
    const store = memory();
    const one = await boot({ providers: [One] }, {}, store);
    const other = await boot({ providers: [One] }, {}, store);
    expect(await one.get(One).overridden()).toBe('one over base');
    expect(await other.get(One).overridden()).toBe('one over undefined');
    expect(other.get(One).runs).toEqual(['one']);
  });

  it('does not let a guarded method keep out the guarded method that it calls by super', async () => {
    const { get } = await boot({ providers: [One] });
    expect(await get(One).decoratedTwice()).toBe('one over base');
  });

  it('does not let two subclasses keep one another out', async () => {
    const { get } = await boot({ providers: [One, Two] });
    const running = [get(One).inherited(), get(Two).inherited()];
    await until(() => get(One).pending.length === 1 && get(Two).pending.length === 1);
    for (const type of [One, Two]) get(type).pending[0]!();
    expect(await Promise.all(running)).toEqual(['One', 'Two']);
  });
});
