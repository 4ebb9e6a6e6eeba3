import { ConflictException, Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  AcquireTimeoutError,
  ClusterSingleton,
  GatekeeperModule,
  GatekeeperService,
  InvalidOptionsError,
  PermitLostError,
  type Skipped,
  StoreUnavailableError,
  UnknownSemaphoreError,
  currentPermit,
  guardWith,
  hazelcast,
} from 'nestjs-gatekeeper';
import { GatekeeperTestingModule, TestGatekeeper } from 'nestjs-gatekeeper/testing';
import { OPERATIONS } from '../../lib/console/api/routes.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { refused } from '../support/refused.js';
import { StartedTimers } from '../support/started-timers.js';

const skipped: Skipped[] = [];

@Injectable()
class Jobs {
  pages = 0;
  signal?: AbortSignal;

  @ClusterSingleton('export', '10m', { onSkip: (each) => void skipped.push(each) })
  async export(): Promise<ReturnType<typeof currentPermit> | undefined> {
    return currentPermit();
  }

  @ClusterSingleton((tenant: string) => `tenant:${tenant}`, '5m', { atLeastFor: '1m', maxRunTime: '4m' })
  async perTenant(tenant: string): Promise<boolean | undefined> {
    return currentPermit().semaphore === `tenant:${tenant}`;
  }

  @ClusterSingleton('report', '1m')
  async report(writePage: () => void | Promise<void>): Promise<string | undefined> {
    const { signal } = currentPermit();
    this.signal = signal;
    while (this.pages < 3) {
      currentPermit().assertHeld();
      this.pages++;
      await writePage();
    }
    return 'written';
  }

  @ClusterSingleton('cache', '1m', { onUnavailable: 'run' })
  async cache(): Promise<boolean | undefined> {
    return currentPermit().isGuarded;
  }
}

@Injectable()
class Imports {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  async run(tenant: string) {
    await using permit = await this.gatekeeper.tryAcquire(`import-${tenant}`, { duration: '5m', holder: 'a request' });
    if (!permit) throw new ConflictException((await this.gatekeeper.explain(`import-${tenant}`)).sentence);
    return permit.isHeld;
  }
}

function guarded() {
  const gatekeeper = new TestGatekeeper();
  return { gatekeeper, jobs: guardWith(new Jobs(), gatekeeper) };
}

describe('TestGatekeeper without Nest', () => {
  it('runs guarded methods, with a permit that they see', async () => {
    const { jobs } = guarded();
    const permit = await jobs.export();
    expect(permit).toMatchObject({ semaphore: 'export', slot: 0, isGuarded: true });
    expect(permit!.token).toBeGreaterThan(0);
    expect((await jobs.export())!.token).toBeGreaterThan(permit!.token);
    expect(await jobs.perTenant('acme')).toBe(true);
  });

  it('ends the permit with the run, without a loss', async () => {
    const permit = await guarded().jobs.export();
    expect([permit!.isHeld, permit!.signal.aborted]).toEqual([false, false]);
  });

  it('skips what it denies, by name, and tells onSkip the reason', async () => {
    const { gatekeeper, jobs } = guarded();
    gatekeeper.deny('export', 'paused');
    skipped.length = 0;
    expect(await jobs.export()).toBeUndefined();
    expect(skipped).toEqual([{ semaphore: 'export', job: 'Jobs.export', reason: 'paused' }]);
    expect(await jobs.perTenant('acme')).toBe(true);
    gatekeeper.allow('export');
    expect(await jobs.export()).toBeDefined();
  });

  it('denies and allows all names; what was said last counts', async () => {
    const { gatekeeper, jobs } = guarded();
    gatekeeper.denyAll().allow('export');
    expect(await jobs.export()).toBeDefined();
    expect(await jobs.perTenant('acme')).toBeUndefined();
    gatekeeper.allowAll();
    expect(await jobs.perTenant('acme')).toBe(true);
    gatekeeper.deny('export').denyAll('closing');
    expect(await gatekeeper.run('export', () => 'ran')).toEqual({ executed: false, reason: 'closing' });
  });

  it('plays a store that is out of reach', async () => {
    const { gatekeeper, jobs } = guarded();
    gatekeeper.denyAll('unavailable');
    expect(await jobs.export()).toBeUndefined();
    expect(await jobs.cache()).toBe(false);
    await expect(gatekeeper.tryAcquire('export')).rejects.toThrow(StoreUnavailableError);
    expect(gatekeeper.calls.map(({ outcome }) => outcome)).toEqual(['unavailable', 'unguarded', 'unavailable']);
  });

  it('loses permits on command: the signal aborts, assertHeld throws', async () => {
    const { gatekeeper, jobs } = guarded();
    const lose = () => void expect(gatekeeper.lose('report', 'revoked')).toBe(1);
    await expect(jobs.report(lose)).rejects.toMatchObject({ code: 'permit-lost', reason: 'revoked' });
    expect(jobs.pages).toBe(1);
    expect(jobs.signal!.reason).toBeInstanceOf(PermitLostError);
  });

  it('loses only permits that are held now, of one name or all', async () => {
    const gatekeeper = new TestGatekeeper();
    const [one, other] = [await gatekeeper.acquire('one'), await gatekeeper.acquire('other')];
    expect([gatekeeper.lose('one'), gatekeeper.lose('one'), gatekeeper.lose('nothing')]).toEqual([1, 0, 0]);
    expect([one.isHeld, other.isHeld]).toEqual([false, true]);
    expect(() => one.assertHeld()).toThrow(PermitLostError);
    await expect(one.extend()).rejects.toThrow(PermitLostError);
    await other.extend('1h');
    expect(gatekeeper.loseAll('closing')).toBe(1);
    expect(other.signal.reason).toMatchObject({ reason: 'closing' });
  });

  it('notes each call: what was asked for, by whom, and what came of it', async () => {
    const { gatekeeper, jobs } = guarded();
    gatekeeper.deny('import');
    await jobs.perTenant('acme');
    await gatekeeper.tryAcquire('import', { duration: '5m', holder: 'a request' });
    await gatekeeper.semaphore('reindex').acquire({ timeout: '1s' });
    expect(gatekeeper.calls).toEqual([
      {
        method: 'run',
        semaphore: 'tenant:acme',
        job: 'Jobs.perTenant(tenant:acme)',
        duration: 300_000,
        options: { duration: '5m', job: 'Jobs.perTenant(tenant:acme)', atLeastFor: '1m', maxRunTime: '4m' },
        outcome: 'granted',
      },
      {
        method: 'tryAcquire',
        semaphore: 'import',
        duration: 300_000,
        options: { duration: '5m', holder: 'a request' },
        outcome: 'no-permit',
      },
      { method: 'acquire', semaphore: 'reindex', options: { timeout: '1s' }, outcome: 'granted' },
    ]);
    expect(gatekeeper.callsOf('import')).toHaveLength(1);
    gatekeeper.reset();
    expect(gatekeeper.calls).toEqual([]);
    expect(await gatekeeper.tryAcquire('import')).toBeDefined();
  });

  it('notes a run whose body throws, and one that overlaps with itself', async () => {
    const { gatekeeper } = guarded();
    const fault = new Error('disk full');
    await expect(gatekeeper.run('export', () => Promise.reject(fault))).rejects.toBe(fault);
    const inner = () => gatekeeper.run('export', () => 'ran');
    expect(await gatekeeper.run('export', inner)).toMatchObject({ value: { executed: false, reason: 'own-run' } });
    expect(gatekeeper.calls.map(({ outcome }) => outcome)).toEqual(['granted', 'granted', 'own-run']);
  });

  it('gives up at once where a real one would wait', async () => {
    const gatekeeper = new TestGatekeeper().deny('import', 'group');
    const waiting = gatekeeper.acquire('import', { timeout: '1h' });
    await expect(waiting).rejects.toThrow(AcquireTimeoutError);
    await expect(waiting).rejects.toMatchObject({ timeout: 3_600_000, reason: 'group' });
    const given = gatekeeper.acquire('import', { signal: AbortSignal.abort(new Error('given up')) });
    await expect(given).rejects.toThrow('given up');
    const nested = () => gatekeeper.run('export', () => 'ran', { wait: '1h', onSkip: 'throw' });
    await expect(gatekeeper.run('export', nested)).rejects.toMatchObject({ code: 'run-skipped', reason: 'own-run' });
    await expect(gatekeeper.run('import', () => 1, { wait: '1h' })).resolves.toMatchObject({ reason: 'group' });
    expect(gatekeeper.callsOf('export').map(({ outcome }) => outcome)).toEqual(['granted', 'own-run']);
  });

  it('refuses options that a real one refuses', async () => {
    const gatekeeper = new TestGatekeeper();
    await expect(gatekeeper.run('x', () => 1, { duration: 'soon' })).rejects.toThrow(InvalidOptionsError);
    await expect(gatekeeper.run('x', () => 1, { duration: 5 })).rejects.toThrow(refused('duration'));
    await expect(gatekeeper.tryAcquire('')).rejects.toThrow(InvalidOptionsError);
  });

  it('is ready at once, and healthy as far as its store goes', async () => {
    const { gatekeeper, jobs } = guarded();
    await jobs.export();
    await expect(gatekeeper.ready({ timeout: 1 })).resolves.toBeUndefined();
    expect(gatekeeper.health().store.connected).toBe(true);
  });

  it('has definitions that people change, as with an empty memory()', async () => {
    const gatekeeper = new TestGatekeeper();
    const { definitions } = gatekeeper;
    await definitions.define({ name: 'x', duration: '10s' });
    await definitions.pause('x');
    expect((await gatekeeper.state()).semaphores).toMatchObject([{ name: 'x', pause: expect.anything() }]);
    await expect(gatekeeper.runNow('unknown')).rejects.toBeInstanceOf(UnknownSemaphoreError);
  });

  it('explains its decisions to the console, too', async () => {
    const gatekeeper = new TestGatekeeper();
    gatekeeper.deny('import', 'paused');
    const caller = {
      user: 'ann',
      role: 'view' as const,
      sees: undefined,
      limits: {} as never,
      signal: new AbortController().signal,
    };
    const input = { params: { name: 'import' }, query: undefined, body: undefined };
    expect(await OPERATIONS.explain.run(partsOf(gatekeeper), input, caller)).toMatchObject({ reason: 'paused' });
  });

  it('leaves no timer and nothing to close', async () => {
    const timers = new StartedTimers();
    const { gatekeeper, jobs } = guarded();
    await jobs.perTenant('acme');
    await gatekeeper.tryAcquire('import', { keepAlive: true });
    gatekeeper.denyAll();
    await jobs.export();
    expect(await timers.left()).toBe(0);
  });
});

describe('GatekeeperTestingModule', () => {
  it('gives services and job classes a TestGatekeeper, without init()', async () => {
    const imports = [GatekeeperTestingModule.forRoot({ group: 'production', acquirer: 'app1' })];
    const module = await Test.createTestingModule({ imports, providers: [Jobs, Imports] }).compile();
    const gatekeeper = module.get(TestGatekeeper);
    expect(module.get(GatekeeperService)).toBe(gatekeeper);
    expect(gatekeeper.node).toMatchObject({ group: 'production', acquirer: 'app1' });
    expect(await module.get(Jobs).export()).toBeDefined();
    expect(await module.get(Imports).run('acme')).toBe(true);
    gatekeeper.deny('import-acme');
    await expect(module.get(Imports).run('acme')).rejects.toThrow('the test denies "import-acme": no-permit');
    await module.close();
  });

  it('is another one for each application', async () => {
    const module = { imports: [GatekeeperTestingModule.forRoot()] };
    const [one, other] = await Promise.all([1, 2].map(() => Test.createTestingModule(module).compile()));
    expect(one!.get(TestGatekeeper)).not.toBe(other!.get(TestGatekeeper));
  });

  it('guards instances that a factory made, after init()', async () => {
    const providers = [{ provide: Jobs, useFactory: () => new Jobs() }];
    const module = await Test.createTestingModule({
      imports: [GatekeeperTestingModule.forRoot()],
      providers,
    }).compile();
    await module.init();
    expect(await module.get(Jobs).export()).toBeDefined();
    await module.close();
  });

  it('leaves out boot checks against definitions that it does not know, and no timer', async () => {
    @Injectable()
    class Undefined {
      @ClusterSingleton('defined in the real module')
      async work(): Promise<string | undefined> {
        return 'ran';
      }
    }
    const timers = new StartedTimers();
    const imports = [GatekeeperTestingModule.forRoot()];
    const module = await Test.createTestingModule({ imports, providers: [Undefined] }).compile();
    await module.init();
    expect(await module.get(Undefined).work()).toBe('ran');
    await module.close();
    expect(await timers.left()).toBe(0);
  });
});

describe('TestGatekeeper in the place of a real one', () => {
  it('is put there by overrideProvider; the real store is never opened', async () => {
    const gatekeeper = new TestGatekeeper();
    const store = hazelcast({ clusterName: 'absent', members: ['127.0.0.1:1'] });
    const opened = () => {
      throw new Error('opened');
    };
    const real = GatekeeperModule.forRoot({ store: { ...store, open: opened }, console: { insecure: true } });
    const builder = Test.createTestingModule({ imports: [real], providers: [Jobs, Imports] });
    const module = await builder.overrideProvider(GatekeeperService).useValue(gatekeeper).compile();
    const app = await module.createNestApplication({ logger: false }).init();
    expect(await app.get(Jobs).export()).toBeDefined();
    expect(await app.get(Imports).run('acme')).toBe(true);
    expect(gatekeeper.calls).toHaveLength(2);
    await app.close();
  });
});
