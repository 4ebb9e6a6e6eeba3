import { Injectable } from '@nestjs/common';
import { ClusterSingleton, type Skipped, currentPermit, memory } from 'nestjs-gatekeeper';
import { until, useApps } from '../support/apps.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';

const fault = new Error('disk full');

@Injectable()
class Jobs {
  readonly name = 'jobs';
  readonly calls: unknown[][] = [];
  readonly pending: (() => void)[] = [];

  @ClusterSingleton('async', '10s')
  async async(...args: unknown[]): Promise<string | undefined> {
    this.calls.push(args);
    return `${this.name} ran`;
  }

  // @ts-expect-error it returns no promise
  @ClusterSingleton('sync', '10s')
  sync(one: number, two: number) {
    return one + two;
  }

  @ClusterSingleton('rejects', '10s')
  async rejects() {
    throw fault;
  }

  @ClusterSingleton('throws', '10s')
  async throws() {
    throw fault;
  }

  @ClusterSingleton((tenant: string) => `tenant:${tenant}`, '10s')
  async perTenant(tenant: string): Promise<string | undefined> {
    await new Promise<void>((resolve) => this.pending.push(resolve));
    return tenant;
  }

  @ClusterSingleton(function (this: Jobs) {
    return `of ${this.name}`;
  }, '10s')
  async byThis(): Promise<string | undefined> {
    return currentPermit().semaphore;
  }

  @ClusterSingleton((() => undefined) as never, '10s')
  async misnamed(): Promise<string | undefined> {
    return 'ran';
  }

  @ClusterSingleton(() => 'leader:main', '10s')
  async reserved(): Promise<string | undefined> {
    return 'ran';
  }

  @ClusterSingleton(() => 'undefined elsewhere')
  async unknown(): Promise<string | undefined> {
    return 'ran';
  }

  @ClusterSingleton('shared', '10s')
  async first(): Promise<number | undefined> {
    await new Promise<void>((resolve) => this.pending.push(resolve));
    return currentPermit().token;
  }

  @ClusterSingleton('shared', '10s')
  async second(): Promise<number | undefined> {
    return currentPermit().token;
  }

  @ClusterSingleton('overlapping', '10s', { overlap: 'allow' })
  async overlapping(): Promise<string | undefined> {
    await new Promise<void>((resolve) => this.pending.push(resolve));
    return 'ran';
  }

  @ClusterSingleton('released', '10s', { atLeastFor: 0 })
  async released(): Promise<string | undefined> {
    return 'ran';
  }

  static readonly skipped: Skipped[] = [];

  @ClusterSingleton('telling', '10s', { onSkip: (skipped) => void Jobs.skipped.push(skipped) })
  async telling(): Promise<string | undefined> {
    return 'ran';
  }

  @ClusterSingleton('short', '10s', { maxRunTime: 20 })
  async short(): Promise<string | undefined> {
    const { signal } = currentPermit();
    await until(() => signal.aborted);
    return (signal.reason as { reason: string }).reason;
  }
}

describe('a guarded method, called directly', () => {
  const { boot } = useApps();

  async function two() {
    const store = memory();
    const [one, other] = [await boot({ providers: [Jobs] }, {}, store), await boot({ providers: [Jobs] }, {}, store)];
    return { one: one.get(Jobs), other: other.get(Jobs), nodes: [one, other] as const };
  }

  it('runs on one node, with its arguments, its `this` and its return value', async () => {
    const { one, other } = await two();
    expect(await one.async('a', 2, undefined)).toBe('jobs ran');
    expect(one.calls).toEqual([['a', 2, undefined]]);
    expect(await other.async('b')).toBeUndefined();
    expect(other.calls).toEqual([]);
  });

  it('gives a promise also when it is synchronous', async () => {
    const { one, other } = await two();
    const answer: unknown = one.sync(1, 2);
    expect(answer).toBeInstanceOf(Promise);
    expect(await answer).toBe(3);
    expect(await other.sync(1, 2)).toBeUndefined();
  });

  it('throws what it throws, as a rejection', async () => {
    const { one } = await two();
    await expect(one.rejects()).rejects.toBe(fault);
    await expect((async () => one.throws())()).rejects.toBe(fault);
    const answer: unknown = one.throws();
    expect(answer).toBeInstanceOf(Promise);
    await expect(answer).rejects.toBe(fault);
  });

  it('runs again on the node that holds the permit', async () => {
    const { one, other } = await two();
    await one.async();
    expect(await one.async()).toBe('jobs ran');
    expect(await other.async()).toBeUndefined();
  });

  it('is skipped while its former run goes on, but runs for other arguments', async () => {
    const { one } = await two();
    const running = [one.perTenant('a'), one.perTenant('b')];
    await until(() => one.pending.length === 2);
    expect(await one.perTenant('a')).toBeUndefined();
    for (const end of one.pending) end();
    expect(await Promise.all(running)).toEqual(['a', 'b']);
  });

  it('takes the semaphore that a function of its arguments names', async () => {
    const { one, other } = await two();
    const running = one.perTenant('a');
    await until(() => one.pending.length === 1);
    expect(await other.perTenant('a')).toBeUndefined();
    const elsewhere = other.perTenant('b');
    await until(() => other.pending.length === 1);
    one.pending[0]!();
    other.pending[0]!();
    expect(await Promise.all([running, elsewhere])).toEqual(['a', 'b']);
  });

  it('gives that function its `this`', async () => {
    const { one } = await two();
    expect(await one.byThis()).toBe('of jobs');
  });

  it('names the method when that function gives no name', async () => {
    const { one } = await two();
    await expect(one.misnamed()).rejects.toThrow(/Jobs\.misnamed .*returned an invalid one: undefined is not text/);
  });

  it('throws when that function gives a reserved name, and defines nothing', async () => {
    const { one, nodes } = await two();
    await expect(one.reserved()).rejects.toMatchObject({ code: 'reserved-name' });
    expect(partsOf(nodes[0].gatekeeper).directory.declared.has('leader:main')).toBe(false);
  });

  it('throws when that function returns an undefined name', async () => {
    const { one } = await two();
    await expect(one.unknown()).rejects.toMatchObject({ code: 'unknown-semaphore' });
  });

  it('shares the permit with another method of the same semaphore on the same node', async () => {
    const { one, other } = await two();
    const first = one.first();
    await until(() => one.pending.length === 1);
    const token = await one.second();
    expect(await other.second()).toBeUndefined();
    one.pending[0]!();
    expect(await first).toBe(token);
  });

  it('runs beside its former run with overlap: allow', async () => {
    const { one } = await two();
    const running = [one.overlapping(), one.overlapping()];
    await until(() => one.pending.length === 2);
    for (const end of one.pending) end();
    expect(await Promise.all(running)).toEqual(['ran', 'ran']);
  });

  it('lets the next node have the permit with atLeastFor: 0', async () => {
    const { one, other } = await two();
    expect(await one.released()).toBe('ran');
    expect(await other.released()).toBe('ran');
  });

  it('tells onSkip by the name of class and method', async () => {
    const { one, other } = await two();
    await one.telling();
    Jobs.skipped.length = 0;
    await other.telling();
    expect(Jobs.skipped).toEqual([{ semaphore: 'telling', job: 'Jobs.telling', reason: 'no-permit' }]);
  });

  it('hears by its signal when it takes longer than maxRunTime', async () => {
    const { one, nodes } = await two();
    expect(await one.short()).toBe('max-run-time');
    expect(nodes[0].events).toContainEqual(expect.objectContaining({ type: 'lost', reason: 'max-run-time' }));
  });

  it('logs a skipped run at debug and nowhere else', async () => {
    const { one, other, nodes } = await two();
    await one.async();
    nodes[1].log.length = 0;
    await other.async();
    expect(nodes[1].log).toEqual(['debug "async": skipped Jobs.async (no-permit)']);
  });

  it('keeps its name and length', () => {
    expect([Jobs.prototype.sync.name, Jobs.prototype.sync.length]).toEqual(['sync', 2]);
  });
});

describe('the definition in force', () => {
  const { boot } = useApps();

  it('is the one that the configuration gives, not the duration of the decorator', async () => {
    const definitions = [{ name: 'async', duration: '1m' }];
    const { get, gatekeeper } = await boot({ providers: [Jobs] }, { definitions });
    await get(Jobs).async();
    const state = (await gatekeeper.state()).semaphores.find(({ name }) => name === 'async')!;
    expect(state.holders[0]!.duration).toBe(60_000);
  });

  it('is the one that an operator edited', async () => {
    const { get, gatekeeper } = await boot({ providers: [Jobs] });
    await gatekeeper.definitions.edit('async', { duration: '2m' });
    await get(Jobs).async();
    const state = (await gatekeeper.state()).semaphores.find(({ name }) => name === 'async')!;
    expect(state.holders[0]!.duration).toBe(120_000);
  });

  it('is made by the duration of the decorator otherwise: any group, any acquirer, one permit', async () => {
    const { gatekeeper } = await boot({ providers: [Jobs] });
    expect(await gatekeeper.definitions.get('async')).toMatchObject({
      definition: { name: 'async', groupPattern: '.*', acquirerPattern: '.*', permits: 1, duration: 10_000 },
    });
  });
});
