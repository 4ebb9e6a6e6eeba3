import { Injectable, Scope } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, Timeout } from '@nestjs/schedule';
import {
  ClusterService,
  ClusterSingleton,
  type GatekeeperOptions,
  LeaderOnly,
  OnLeadershipGained,
  OnLeadershipLost,
  type Term,
  currentPermit,
  guardWith,
  memory,
} from 'nestjs-gatekeeper';
import { GatekeeperTestingModule, TestGatekeeper } from 'nestjs-gatekeeper/testing';
import { type App, bootError, until, useApps } from '../support/apps.js';
import { refused, refusedNaming } from '../support/refused.js';

const { boot, start } = useApps();
const EVERY_SECOND = '* * * * * *';
const LEADERSHIP = { enabled: true, scopes: ['main', 'reports'], lease: '5s' };

@Injectable()
class Jobs {
  readonly tokens: Record<string, number[]> = {};
  readonly log: string[] = [];

  @LeaderOnly()
  @Cron(EVERY_SECOND)
  async cronAbove() {
    this.#note('cronAbove');
  }

  @Cron(EVERY_SECOND)
  @LeaderOnly()
  async cronBelow() {
    this.#note('cronBelow');
  }

  @LeaderOnly('main')
  @Interval(20)
  async intervalAbove() {
    this.#note('intervalAbove');
  }

  @Interval(20)
  @LeaderOnly('main')
  async intervalBelow() {
    this.#note('intervalBelow');
  }

  @LeaderOnly()
  @Timeout(300)
  async timeoutAbove() {
    this.#note('timeoutAbove');
  }

  @Timeout(300)
  @LeaderOnly()
  async timeoutBelow() {
    this.#note('timeoutBelow');
  }

  @LeaderOnly('reports')
  async plain(rows: number): Promise<string | undefined> {
    return `${rows} rows with ${currentPermit().semaphore}`;
  }

  @LeaderOnly()
  @ClusterSingleton('both', '10s', { atLeastFor: 0 })
  async both(): Promise<string | undefined> {
    return currentPermit().semaphore;
  }

  @OnLeadershipGained()
  async gained(term: Term) {
    this.log.push(`+${term.scope} ${term.token}`);
  }

  @OnLeadershipLost()
  lost(term: Term) {
    this.log.push(`-${term.scope} ${term.token}`);
  }

  @OnLeadershipGained('reports')
  @OnLeadershipLost('reports')
  reports(term: Term) {
    this.log.push(`${term.signal.aborted ? '-' : '+'}${term.scope} ${term.token}`);
  }

  #note(method: string) {
    (this.tokens[method] ??= []).push(currentPermit().token);
  }
}

const METADATA = { imports: [ScheduleModule.forRoot()], providers: [Jobs] };

/** Applications of one cluster; the first one leads all scopes. */
async function bootAll(count: number, options: Partial<GatekeeperOptions> = {}): Promise<App[]> {
  const store = memory();
  const apps: App[] = [];
  for (let each = 0; each < count; each++) {
    apps.push(await boot(METADATA, { leadership: LEADERSHIP, ...options }, store));
    if (each === 0) await until(() => leads(apps[0]!) && leads(apps[0]!, 'reports'));
  }
  return apps;
}

const leads = (app: App, scope?: string) => app.get(ClusterService).isLeader(scope);

describe('@LeaderOnly', () => {
  it('runs cron, interval, timeout and plain methods on the leader alone, in both orders of decorators', async () => {
    const [leader, other] = await bootAll(2);
    const { tokens } = leader!.get(Jobs);
    await until(() => Object.keys(tokens).length === 6);
    const token = leader!.get(ClusterService).status().term;
    expect(new Set(Object.values(tokens).flat())).toEqual(new Set([token]));
    await until(() => new Set(skipsOf(other!).map(({ job }) => job)).size === 6);
    expect(other!.get(Jobs).tokens).toEqual({});
    expect(await leader!.get(Jobs).plain(3)).toBe('3 rows with leader:reports');
    expect(await other!.get(Jobs).plain(3)).toBeUndefined();
    expect(skipsOf(other!).at(-1)).toEqual({
      type: 'run-skipped',
      semaphore: 'leader:reports',
      job: 'Jobs.plain',
      reason: 'not-leader',
    });
  });

  it('stands beside @ClusterSingleton', async () => {
    const [leader, other] = await bootAll(2);
    expect(await leader!.get(Jobs).both()).toBe('both');
    expect(await other!.get(Jobs).both()).toBeUndefined();
  });

  it('publishes its jobs with the semaphore of their scope', async () => {
    const [leader] = await bootAll(1);
    expect(leader!.gatekeeper.registry.jobs()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ job: 'Jobs.plain', semaphore: 'leader:reports' }),
        expect.objectContaining({ job: 'Jobs.cronBelow', schedule: expect.objectContaining({ kind: 'cron' }) }),
      ]),
    );
  });

  it('skips everywhere until initialize() when leadership is not enabled, and the log says so', async () => {
    const app = await boot(METADATA, { leadership: { ...LEADERSHIP, enabled: false } });
    expect(app.log).toContainEqual(expect.stringMatching(/^warn Jobs\.\w+ needs a leader, but leadership is off/));
    expect(await app.get(Jobs).plain(1)).toBeUndefined();
    await app.get(ClusterService).initialize();
    await until(() => leads(app, 'reports'));
    expect(await app.get(Jobs).plain(1)).toBe('1 rows with leader:reports');
  });
});

describe('@OnLeadershipGained and @OnLeadershipLost', () => {
  it('hear of each term once', async () => {
    const [one, two] = await bootAll(2);
    await until(() => one!.get(Jobs).log.length === 2);
    const term = one!.get(ClusterService).status().term;
    const reports = one!.get(ClusterService).status('reports').term;
    await one!.get(ClusterService).resign();
    await until(() => leads(two!));
    expect(one!.get(Jobs).log.toSorted()).toEqual([`+main ${term}`, `+reports ${reports}`, `-main ${term}`]);
    expect(two!.get(Jobs).log).toEqual([`+main ${two!.get(ClusterService).status().term}`]);
    await one!.app.close();
    await until(() => leads(two!, 'reports'));
    expect(one!.get(Jobs).log.toSorted().at(-1)).toBe(`-reports ${reports}`);
    expect(one!.get(Jobs).log).toHaveLength(4);
  });
});

describe('ClusterService', () => {
  it('knows who leads and who takes part, leads work, and hands over', async () => {
    const [one, two] = await bootAll(2);
    const [service, other] = [one!.get(ClusterService), two!.get(ClusterService)];
    const ids = [one!, two!].map(({ gatekeeper }) => gatekeeper.node.instance);
    await until(() => service.clusterStatus().participants.length === 2);
    expect(service.clusterStatus()).toMatchObject({ current: ids[0], leader: ids[0] });
    const ran = jest.fn<(term: Term) => void>();
    const stop = new AbortController();
    const leading = other.lead('main', ran, { signal: stop.signal });
    await service.transferTo(ids[1]!);
    await until(() => ran.mock.calls.length === 1);
    expect(other.isLeader()).toBe(true);
    expect((await other.whenLeader()).token).toBe(ran.mock.calls[0]![0].token);
    stop.abort();
    await leading;
    await until(() => service.clusterStatus().leader === ids[1]);
  });

  it.each([
    ['isLeader', (service: ClusterService) => service.isLeader('mail')],
    ['status', (service: ClusterService) => service.status('mail')],
    ['clusterStatus', (service: ClusterService) => service.clusterStatus('mail')],
    ['resign', (service: ClusterService) => service.resign('mail')],
    ['whenLeader', (service: ClusterService) => service.whenLeader(undefined, 'mail')],
    ['transferTo', (service: ClusterService) => service.transferTo('x', 'mail')],
    ['lead', (service: ClusterService) => service.lead('mail', () => undefined)],
  ])('%s() of an unknown scope is an error', async (_method, call) => {
    const app = await boot({}, { leadership: { scopes: ['main', 'reports'] } });
    const attempt = (async () => call(app.get(ClusterService)))();
    await expect(attempt).rejects.toMatchObject({ code: 'unknown-scope', scope: 'mail' });
  });

  it('refuses work that is no function, and options that it does not know', async () => {
    const app = await boot({});
    const service = app.get(ClusterService);
    const attempt = service.lead('default', 'poll' as never, { timeout: 5 } as never);
    await expect(attempt).rejects.toThrow(refused('work', 'options.timeout'));
  });

  it('is injectable in unit tests', async () => {
    const app = await start({ imports: [GatekeeperTestingModule.forRoot()] });
    expect(app.get(ClusterService).isLeader()).toBe(false);
  });
});

describe('in a unit test', () => {
  it('@LeaderOnly asks the TestGatekeeper about the semaphore of its scope', async () => {
    const gatekeeper = new TestGatekeeper();
    const jobs = guardWith(new Jobs(), gatekeeper);
    expect(await jobs.plain(2)).toBe('2 rows with leader:reports');
    gatekeeper.deny('leader:reports');
    expect(await jobs.plain(2)).toBeUndefined();
    expect(gatekeeper.callsOf('leader:reports')).toMatchObject([
      { job: 'Jobs.plain', outcome: 'granted' },
      { job: 'Jobs.plain', outcome: 'no-permit' },
    ]);
  });

  it('a guarded method without a gatekeeper does not run, and says why', async () => {
    const error = expect.objectContaining({
      code: 'no-gatekeeper',
      message: expect.stringMatching(/^Jobs\.plain .*@LeaderOnly/),
    });
    await expect(new Jobs().plain(1)).rejects.toEqual(error);
  });
});

describe('mistakes', () => {
  it('are listed when the application boots', async () => {
    class Mistaken {
      @LeaderOnly('mail')
      async unknown() {}

      @LeaderOnly()
      @LeaderOnly()
      async twice() {}

      @OnLeadershipLost('post')
      hears() {}
    }
    const booting = boot({ providers: [Mistaken] }, { leadership: LEADERSHIP });
    expect(await bootError(booting)).toEqual(
      refusedNaming(
        'Mistaken.unknown: "mail"',
        'Mistaken.twice has two @LeaderOnly decorators',
        'Mistaken.hears: "post"',
      ),
    );
  });

  it('of the target are errors at once', () => {
    const apply = (decorator: MethodDecorator, target: object, descriptor: PropertyDescriptor) => () =>
      decorator(target, 'poll', descriptor);
    class Statics {}
    expect(apply(LeaderOnly(), Statics, { value: () => 1 })).toThrow(refusedNaming(/^@LeaderOnly .* Statics\.poll/));
    expect(apply(LeaderOnly(), {}, { value: 5 })).toThrow(refusedNaming(/^@LeaderOnly .* poll$/));
    expect(apply(OnLeadershipGained(), {}, { value: 5 })).toThrow(refusedNaming(/^@OnLeadershipGained .* poll$/));
  });

  it('of the provider are warnings: a listener without an instance is never called', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Passing {
      @OnLeadershipGained()
      gained() {}
    }
    const app = await boot({ providers: [Passing] }, { leadership: LEADERSHIP });
    expect(app.log).toContainEqual(
      expect.stringContaining('Passing.gained hears of no leadership: its provider is not static'),
    );
  });
});

function skipsOf({ events }: App) {
  return events.filter((event) => event.type === 'run-skipped');
}
