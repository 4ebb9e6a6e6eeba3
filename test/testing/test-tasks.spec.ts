import { readFile } from 'node:fs/promises';
import { Inject, Injectable, Scope, type Type } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  ClusterCron,
  type GroupContext,
  GatekeeperModule,
  GatekeeperService,
  GroupFinishedHandler,
  InvalidOptionsError,
  RetryLaterError,
  type ScheduleContext,
  type TaskContext,
  TaskHandler,
  TasksService,
  grouped,
  hazelcast,
  single,
  wholeGroup,
} from 'nestjs-gatekeeper';
import { GatekeeperTestingModule, type TestNode, TestTasks } from 'nestjs-gatekeeper/testing';
import { StartedTimers } from '../support/started-timers.js';

const MINUTE = 60_000;
const START = Date.parse('2030-01-01T00:00:00Z');

describe('TestTasks', () => {
  const modules: TestingModule[] = [];
  afterEach(async () => {
    for (const module of modules.splice(0)) await module.close();
  });

  async function boot(node: TestNode, ...providers: Type[]): Promise<TestingModule> {
    const imports = [GatekeeperTestingModule.forNode(node)];
    const module = await Test.createTestingModule({ imports, providers }).compile();
    modules.push(module);
    return module.init();
  }

  /** A cluster with one node that handles "job". */
  async function withJob(work: (context: TaskContext) => unknown, options = {}) {
    const tasks = new TestTasks();
    const module = await boot(tasks.node());
    const service = module.get(TasksService);
    service.handle('job', async (context) => work(context), options);
    return { tasks, service, module };
  }

  it('starts a delayed task at its time, not before', async () => {
    const { tasks, service } = await withJob(() => 'done');
    await service.submit(single('job', 'a'), 1, { runAt: '1h' });
    await tasks.advance(60 * MINUTE - 10);
    expect(tasks.attempts).toEqual([]);
    await tasks.advance(10);
    expect(tasks.attempts).toMatchObject([{ task: 'job:a', node: 'node1', outcome: 'completed' }]);
    expect(tasks.attempts[0]!.at - START - 60 * MINUTE).toBeLessThan(3);
  });

  it('does a year of retries and delays at once', async () => {
    const began = performance.now();
    const { tasks } = await withJob(({ attempt }) => {
      if (attempt < 5) throw new Error('not yet');
    });
    await tasks.run(single('job', 'a'), 1, { maxAttempts: 9, backoff: { first: '30d', longest: '90d' } });
    await tasks.runAll({ limit: '366d' });
    expect(tasks.attemptsOf('job:a').map(({ outcome }) => outcome)).toEqual([...Array(4).fill('again'), 'completed']);
    expect(tasks.attemptsOf('job:a')[0]).toMatchObject({ error: new Error('not yet') });
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it('keeps what was submitted when the store has forgotten it', async () => {
    const { tasks, service } = await withJob(({ submit }) => submit(single('part', 'a'), { of: 'a' }));
    service.handle('part', async () => undefined);
    await tasks.run(single('job', 'a'), { page: 1 }, { priority: 'high' });
    await tasks.run(single('job', 'a'), { page: 2 });
    await tasks.advance('2h');
    expect(await tasks.find('job:a')).toBeUndefined();
    expect(tasks.submitted).toMatchObject([
      { id: 'job:a', priority: 'high', data: { page: 1 } },
      { type: 'part', parent: 'job:a', data: { of: 'a' } },
      { id: 'job:a', data: { page: 2 } },
      { type: 'part' },
    ]);
  });

  it('runs groups, serial queues and tasks after others without any time', async () => {
    const ran: string[] = [];
    const { tasks, service } = await withJob(({ id }) => void ran.push(id));
    service.onGroupFinished('job', async ({ group }) => void ran.push(group));
    await service.submit(grouped('job', 'g', 1, 2));
    await service.submit(single('job', 'last'), undefined, { after: [wholeGroup('job', 'g')] });
    await service.submitSerial('q', single('job', 'q1'));
    await service.submitSerial('q', single('job', 'q2'));
    await service.submit(grouped('job', 'g', 2, 2));
    await tasks.idle();
    expect(ran).toEqual(['job[g]#1', 'job:q1', 'job:q2', 'job[g]#2', 'g', 'job:last']);
    expect(tasks.now.getTime() - START).toBeLessThan(10);
  });

  it('submits thousands of members of one group while time stands', async () => {
    const { tasks, service } = await withJob(() => undefined, { concurrency: 50 });
    let groups = 0;
    service.onGroupFinished('job', async () => void groups++);
    const total = 2000;
    await service.submitMany(Array.from({ length: total }, (_, at) => ({ name: grouped('job', 'g', at + 1, total) })));
    await tasks.idle();
    expect(groups).toBe(1);
  });

  it('waits for handlers that read files, and moves time on beside those that wait for it', async () => {
    const { tasks, service } = await withJob(
      async ({ data, signal }) => {
        if (data === 'file') return (await readFile('package.json', 'utf8')).includes('nestjs-gatekeeper');
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
      { maxDuration: '10m' },
    );
    expect(await tasks.run(single('job', 'a'), 'file')).toMatchObject({ state: 'completed', result: true });
    await service.submit(single('job', 'b'), 'signal');
    await expect(tasks.idle({ timeout: 20 })).rejects.toThrow(
      /^handlers did not end within 20 ms: job:b\. If they wait for time, or for their signal, use advance\(\)$/,
    );
    await tasks.advance('10m');
    expect(tasks.attemptsOf('job:b')).toMatchObject([{ outcome: 'again', error: { name: 'TaskTimeoutError' } }]);
  });

  it('lets other nodes take over what a crashed node had, when the lease has ended', async () => {
    const tasks = new TestTasks();
    const [one, other] = [tasks.node({ acquirer: 'one' }), tasks.node({ acquirer: 'other' })];
    const service = (await boot(one)).get(TasksService);
    service.handle('job', async () => new Promise(() => undefined), { lease: '40s' });
    await service.submit(single('job', 'a'));
    await tasks.advance('5m');
    expect(await tasks.find('job:a')).toMatchObject({ state: 'running', crashes: 0 });
    await tasks.crash(one);
    (await boot(other)).get(TasksService).handle('job', async () => 'done');
    await tasks.advance('20s');
    expect(tasks.attempts).toHaveLength(1);
    await tasks.runAll();
    expect(await tasks.find('job:a')).toMatchObject({ state: 'completed', crashes: 1, result: 'done' });
    expect(tasks.attempts.map(({ node, outcome }) => [node, outcome])).toEqual([
      ['one', undefined],
      ['other', 'completed'],
    ]);
  });

  it('divides tasks over its nodes', async () => {
    const tasks = new TestTasks();
    const services = [];
    for (let count = 0; count < 3; count++) services.push((await boot(tasks.node())).get(TasksService));
    for (const service of services) service.handle('job', async () => undefined, { concurrency: 1 });
    for (let index = 0; index < 30; index++) await services[0]!.submit(single('job', `${index}`));
    await tasks.idle();
    expect(new Set(tasks.attempts.map(({ node }) => node))).toEqual(new Set(['node1', 'node2', 'node3']));
    expect(tasks.attempts).toHaveLength(30);
  });

  it('runs each tick of a schedule on one of its nodes, in the zone of the schedule', async () => {
    const ran: string[] = [];
    @Injectable()
    class Reports {
      @ClusterCron('0 3 * * *', { name: 'nightly', timeZone: 'Europe/Berlin' })
      async nightly({ plannedAt }: ScheduleContext) {
        ran.push(plannedAt.toISOString());
      }
    }
    const tasks = new TestTasks({ startAt: new Date('2030-03-30T00:00:00Z') });
    await boot(tasks.node(), Reports);
    await boot(tasks.node(), Reports);
    await tasks.advance('3d');
    expect(ran).toEqual(['2030-03-30T02:00:00.000Z', '2030-03-31T01:00:00.000Z', '2030-04-01T01:00:00.000Z']);
  });

  it('gives handlers in request scope an instance per task, per group and per tick', async () => {
    const seen: string[] = [];
    let instances = 0;
    @Injectable({ scope: Scope.REQUEST })
    class Scoped {
      readonly #number = ++instances;
      constructor(@Inject(REQUEST) private readonly request: TaskContext | GroupContext | ScheduleContext) {}

      @TaskHandler('job')
      async run(context: TaskContext<number>) {
        seen.push(`${this.#number} ${context.id} attempt ${context.attempt} ${this.request === context}`);
        if (context.data === 2 && context.attempt === 1) throw new Error('once more');
      }

      @GroupFinishedHandler('job')
      async finished(context: GroupContext) {
        seen.push(`${this.#number} ${context.group} ${this.request === context}`);
      }

      @ClusterCron('0 * * * *', { name: 'hourly' })
      async tick(context: ScheduleContext) {
        seen.push(`${this.#number} ${context.plannedAt.getUTCHours()} ${this.request === context}`);
      }
    }
    const tasks = new TestTasks();
    const service = (await boot(tasks.node(), Scoped)).get(TasksService);
    for (const number of [1, 2]) await tasks.run(grouped('job', 'g', number, 2), number);
    await tasks.advance('1h');
    expect(service).toBeInstanceOf(TasksService);
    expect(seen).toEqual([
      '1 job[g]#1 attempt 1 true',
      '2 job[g]#2 attempt 1 true',
      '3 job[g]#2 attempt 2 true',
      '4 g true',
      '5 1 true',
    ]);
  });

  it('replaces the gatekeeper of a whole application', async () => {
    @Injectable()
    class Later {
      @TaskHandler('job')
      async run({ attempt, data }: TaskContext<number>) {
        if (data > 1) throw new RetryLaterError('1d');
        return attempt;
      }
    }
    const tasks = new TestTasks();
    const store = hazelcast({ clusterName: 'none', members: ['127.0.0.1:1'] });
    const builder = Test.createTestingModule({ imports: [GatekeeperModule.forRoot({ store })], providers: [Later] });
    const module = await builder.overrideProvider(GatekeeperService).useValue(tasks.node()).compile();
    modules.push(module);
    await module.init();
    expect(await tasks.run(single('job', 'a'), 1)).toMatchObject({ state: 'completed', result: 1 });
    expect(await tasks.run(single('job', 'b'), 2)).toMatchObject({ state: 'delayed', attempts: 0 });
    await expect(tasks.runAll({ limit: '7d' })).rejects.toThrow(/^tasks are left after the limit: the next is "job:b"/);
    expect(tasks.attemptsOf('job:b')).toHaveLength(7);
  });

  it('leaves tasks that no node takes, and says what it can not do', async () => {
    const { tasks, service } = await withJob(() => undefined);
    await service.submit(single('other', 'a'));
    await tasks.runAll();
    expect(await tasks.find('other:a')).toMatchObject({ state: 'waiting' });
    await expect(tasks.advance('soon')).rejects.toThrow(InvalidOptionsError);
    await expect(new TestTasks().run(single('job', 'a'))).rejects.toThrow(/^no node lives: make one with node\(\)/);
  });

  it('leaves no timer behind, also after a crash and with a handler that does not end', async () => {
    const timers = new StartedTimers();
    const { tasks, module } = await withJob(() => new Promise(() => undefined));
    await module.get(TasksService).submit(single('job', 'a'));
    await tasks.advance('1m');
    const other = tasks.node();
    const crashed = await boot(other);
    await tasks.crash(other);
    await crashed.close();
    await module.close();
    modules.length = 0;
    expect(await timers.left()).toBe(0);
  });
});
