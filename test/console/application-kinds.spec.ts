import { type INestApplicationContext, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { ClusterSingleton, GatekeeperModule, memory } from 'nestjs-gatekeeper';
import { freePort } from '../../lib/testing/hazelcast/free-port.js';
import { collecting } from '../support/apps.js';
import { SETTINGS, TOKENS } from './consoles.js';

@Injectable()
class Jobs {
  @ClusterSingleton('job', '10s')
  async run(): Promise<string | undefined> {
    return 'ran';
  }
}

@Module({
  imports: [GatekeeperModule.forRoot({ store: memory(), definitionsDelay: 0, clockTolerance: 100, console: SETTINGS })],
  providers: [Jobs],
})
class AppModule {}

/** Its module gives the gatekeeper only to modules that import it. */
const gatekeeper = GatekeeperModule.forRoot({
  store: memory(),
  definitionsDelay: 0,
  clockTolerance: 100,
  isGlobal: false,
  console: SETTINGS,
});
@Module({ imports: [gatekeeper], providers: [Jobs] })
class FeatureModule {}

/** Begins the lines of the log that say that the console is served nowhere. */
const NOT_SERVED = 'log the console is not served';
const TCP = 0;

const log: string[] = [];
const logger = collecting(log);
const started: INestApplicationContext[] = [];

afterEach(async () => {
  log.length = 0;
  await Promise.all(started.splice(0).map((app) => app.close()));
});

const WITH_HTTP = {
  'HTTP on Express': () => NestFactory.create(AppModule, new ExpressAdapter(), { logger }),
  'HTTP on Fastify': () => NestFactory.create(AppModule, new FastifyAdapter(), { logger }),
  'a hybrid of HTTP and a microservice': async () => {
    const app = await NestFactory.create(AppModule, { logger });
    app.connectMicroservice({ transport: TCP, options: await freeAddress() });
    await app.startAllMicroservices();
    return app;
  },
  'HTTP, with a gatekeeper that is not global': () => NestFactory.create(FeatureModule, { logger }),
  "a test's, with HTTP on Express": async () => (await compile()).createNestApplication(new ExpressAdapter()),
  "a test's, with HTTP on Fastify": async () =>
    (await compile()).createNestApplication(new FastifyAdapter() as unknown as ExpressAdapter),
};

const WITHOUT_HTTP = {
  'an application context': () => NestFactory.createApplicationContext(AppModule, { logger }),
  'a microservice': async () => {
    const options = { transport: TCP, options: await freeAddress(), logger };
    const app = await NestFactory.createMicroservice(AppModule, options);
    await app.listen();
    return app;
  },
  "a test's module": async () => (await compile()).init(),
};

describe.each(Object.entries(WITH_HTTP))('with a console, an application that is %s', (_, create) => {
  it('starts, serves the console, runs its jobs and closes', async () => {
    const app = await create();
    started.push(app);
    await app.listen(0, '127.0.0.1');
    const url = `http://127.0.0.1:${app.getHttpServer().address().port}/gatekeeper/api/session`;
    const { status } = await fetch(url, { headers: { authorization: `Bearer ${TOKENS.view}` } });
    expect(status).toBe(200);
    expect(await app.get(Jobs).run()).toBe('ran');
    expect(log.filter((line) => line.startsWith(NOT_SERVED))).toEqual([]);
    await app.close();
  });
});

describe.each(Object.entries(WITHOUT_HTTP))('with a console, an application that is %s', (_, create) => {
  it('starts, says once that the console is not served, runs its jobs and closes', async () => {
    const app = await create();
    started.push(app);
    expect(await app.get(Jobs).run()).toBe('ran');
    expect(log.filter((line) => line.startsWith(NOT_SERVED))).toEqual([
      'log the console is not served: this application has no HTTP server',
    ]);
    await app.close();
  });
});

describe("with a console, a test's module that only compiles", () => {
  it('gives its providers and closes', async () => {
    const module = await compile();
    started.push(module);
    expect(module.get(Jobs)).toBeInstanceOf(Jobs);
    await module.close();
  });
});

function compile() {
  return Test.createTestingModule({ imports: [AppModule] })
    .setLogger(logger)
    .compile();
}

/** Nest takes port 0 for 3000. */
async function freeAddress(): Promise<{ host: string; port: number }> {
  const host = '127.0.0.1';
  return { host, port: await freePort(host, new Set()) };
}
