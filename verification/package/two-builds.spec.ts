import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Inject, Injectable, type Provider } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import type { GatekeeperOptions, StoreDefinition, TaskContext } from 'nestjs-gatekeeper';
import { KEY_PREFIX } from '../../lib/core/decision/index.js';
import { SwitchableProxy } from '../../test/support/switchable-proxy.js';
import { until } from '../../test/support/apps.js';
import { describeOnRedis } from '../needs/redis.js';
import { RedisServer } from '../support/redis-server.js';

type Package = typeof import('nestjs-gatekeeper');
type WithRedis = typeof import('nestjs-gatekeeper/redis');

const built = (file: string) => new URL(`../../${file}`, import.meta.url);
const requireBuilt = (file: string) => createRequire(import.meta.url)(fileURLToPath(built(file)));

/** The application's build. */
const esm = (await import(built('dist/index.js').href)) as Package;
/** The build of a library in it, and of its store. */
const cjs = requireBuilt('dist-cjs/index.js') as Package;
const { redis } = requireBuilt('dist-cjs/redis.js') as WithRedis;

const booted: TestingModule[] = [];
afterEach(async () => {
  for (const each of booted.splice(0)) await each.close();
});

async function boot(store: StoreDefinition, providers: Provider[] = [], options: Partial<GatekeeperOptions> = {}) {
  const definitions = [{ name: 'job', duration: '10s' }];
  const imports = [esm.GatekeeperModule.forRoot({ store, definitions, definitionsDelay: 0, ...options })];
  const module = await Test.createTestingModule({ imports, providers }).compile();
  module.useLogger(false);
  booted.push(await module.init());
  const gatekeeper = module.get(esm.GatekeeperService);
  await gatekeeper.ready();
  return { module, gatekeeper };
}

/** A store in this process, by the CommonJS build. `lose` lets the next write be applied, and its answer get lost. */
function losing() {
  const inner = cjs.memory();
  let error: (() => Error) | undefined;
  const open: StoreDefinition['open'] = (options) => {
    const store = inner.open(options);
    const write = store.records.compareAndSet.bind(store.records);
    store.records.compareAndSet = async (...args) => {
      const answer = await write(...args);
      const lost = error?.();
      error = undefined;
      if (lost) throw lost;
      return answer;
    };
    return store;
  };
  return { definition: { ...inner, open }, lose: (by: () => Error) => (error = by) };
}

it('the builds are two copies', () => {
  expect(esm.GatekeeperService).not.toBe(cjs.GatekeeperService);
  expect(new cjs.UnknownOutcomeError('lost')).toBeInstanceOf(esm.UnknownOutcomeError);
});

describe('a write whose answer the store of the CommonJS build loses', () => {
  it.each([
    ['by its own error', () => new cjs.UnknownOutcomeError('no answer')],
    ['by an error that is not known', () => new TypeError('x is not a function')],
  ])('counts as what became of it, %s: the permit is granted once', async (_how, error) => {
    const { definition, lose } = losing();
    const { gatekeeper } = await boot(definition);
    lose(error);
    const permit = await gatekeeper.tryAcquire('job');
    expect(permit?.isHeld).toBe(true);
    const { semaphores } = await gatekeeper.state();
    expect(semaphores.find(({ name }) => name === 'job')?.holders).toHaveLength(1);
  });
});

describeOnRedis('a write to Redis by the CommonJS build', () => {
  it('is no refusal if its answer is lost on the way to an application of ES modules: it is looked for, and found', async () => {
    await using server = await RedisServer.start();
    await using proxy = await SwitchableProxy.start(server.port);
    const { gatekeeper } = await boot(redis({ url: `redis://127.0.0.1:${proxy.port}` }), [], {
      callTimeout: '10s',
      heartbeat: 0,
      history: false,
    });
    const direct = redis({ url: server.url }).open();
    // The server knows the script after the first call.
    await (await gatekeeper.tryAcquire('job'))!.release();
    proxy.loseAnswers();
    const acquiring = gatekeeper.tryAcquire('job', { holder: 'the lost one' });
    await until(async () => (await direct.records.read(`${KEY_PREFIX}job`))?.includes('the lost one') ?? false);
    proxy.cut();
    // The store is away for the moment in which the client connects again. An error taken for a refusal would end the call.
    expect(await acquiring).toMatchObject({ isHeld: true });
    expect(await direct.records.read(`${KEY_PREFIX}job`)).toContain('the lost one');
    await direct.close();
  });
});

describe('a library of the CommonJS build in an application of ES modules', () => {
  it('has its methods called, its errors understood, and its services injected', async () => {
    const seen: unknown[] = [];

    @Injectable()
    class Library {
      constructor(@Inject(cjs.TasksService) readonly tasks: InstanceType<Package['TasksService']>) {}

      @cjs.ClusterSingleton('job', '10s')
      async guarded(): Promise<boolean | undefined> {
        return cjs.currentPermit().token === esm.currentPermit().token;
      }

      @cjs.TaskHandler('mail')
      async mail({ id }: TaskContext) {
        throw new cjs.InvalidTaskError(`no customer of ${id}`);
      }

      @cjs.InvalidTaskHandler()
      invalid(_task: Pick<TaskContext, 'id'>, error: unknown) {
        seen.push(error);
      }

      @cjs.ClusterCron('0 3 * * *', { name: 'nightly' })
      async nightly() {}
    }
    const { module } = await boot(cjs.memory(), [Library]);
    const library = module.get(Library);
    expect(library.tasks).toBe(module.get(esm.TasksService));
    expect(await library.guarded()).toBe(true);
    await library.tasks.submit(esm.single('mail', 'x'), {}, { maxAttempts: 5 });
    await until(() => seen.length > 0);
    expect(seen[0]).toBeInstanceOf(esm.InvalidTaskError);
    expect((await library.tasks.schedules()).map(({ name }) => name)).toEqual(['nightly']);
  });
});
