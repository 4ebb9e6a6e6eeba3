import 'reflect-metadata';
import { Controller, Get, Inject, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import {
  ClusterCron,
  GatekeeperHealthIndicator,
  GatekeeperModule,
  InvalidTaskError,
  type StoreDefinition,
  StoreUnavailableError,
  TaskHandler,
  TasksService,
  hazelcast,
  memory,
  single,
} from 'nestjs-gatekeeper';
import { postgres } from 'nestjs-gatekeeper/postgres';
import { redis } from 'nestjs-gatekeeper/redis';

/** The application that verification/package/bundles.spec.ts bundles. It prints facts about itself as JSON. */

@Injectable()
class Reports {
  @ClusterCron('0 3 * * *', { name: 'nightly' })
  async nightly() {}

  @TaskHandler('mail')
  async mail() {
    throw new InvalidTaskError('no such customer');
  }
}

@Injectable()
class Nameless {
  @ClusterCron('0 3 * * *')
  async nightly() {}
}

@Controller('health')
class HealthController {
  constructor(
    @Inject(HealthCheckService) private readonly checks: HealthCheckService,
    @Inject(GatekeeperHealthIndicator) private readonly gatekeeper: GatekeeperHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.checks.check([() => this.gatekeeper.isHealthy()]);
  }
}

const tokens = [{ token: 'secret-secret-secret-secret', name: 'operator', role: 'view' as const }];

@Module({
  imports: [
    ScheduleModule.forRoot(),
    TerminusModule,
    GatekeeperModule.forRoot({ store: memory(), console: { path: 'gk', tokens } }),
  ],
  controllers: [HealthController],
  providers: [Reports],
})
class AppModule {}

@Module({ imports: [GatekeeperModule.forRoot({ store: memory() })], providers: [Nameless] })
class NamelessModule {}

/** The name of the error of a store that can't be reached. */
async function errorOf(definition: StoreDefinition): Promise<string> {
  const store = definition.open({ callTimeout: 2000 });
  const error: unknown = await store.records.read('x').catch((failure: unknown) => failure);
  await store.close();
  return error instanceof StoreUnavailableError ? error.name : String(error);
}

async function faultsOfNameless(): Promise<readonly string[]> {
  try {
    const app = await NestFactory.createApplicationContext(NamelessModule, { logger: false, abortOnError: false });
    await app.close();
    return [];
  } catch (error) {
    return (error as { readonly faults?: string[] }).faults ?? [String(error)];
  }
}

async function stateOfInvalidTask(tasks: TasksService): Promise<string | undefined> {
  await tasks.submit(single('mail', 'x'), {}, { maxAttempts: 5 });
  for (;;) {
    const task = await tasks.find('mail:x');
    if (task?.state !== 'waiting' && task?.state !== 'running') return task?.state;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(0, '127.0.0.1');
  const url = `${await app.getUrl()}/gk/`;
  const tasks = app.get(TasksService);
  const page = await fetch(url);
  const html = await page.text();
  const script = await fetch(url + /assets\/console-\w+\.js/.exec(html)?.[0]);
  const facts = {
    schedules: (await tasks.schedules()).map(({ name }) => name),
    page: [page.status, html.startsWith('<!doctype html>')],
    script: [script.status, script.headers.get('content-type')?.includes('javascript')],
    postgres: await errorOf(postgres({ connectionString: 'postgres://127.0.0.1:1/x' })),
    redis: await errorOf(redis({ url: 'redis://127.0.0.1:1' })),
    hazelcast: await errorOf(hazelcast({ members: ['127.0.0.1:1'] })),
    invalid: await faultsOfNameless(),
    ended: await stateOfInvalidTask(tasks),
    health: (await fetch(`${await app.getUrl()}/health`)).status,
  };
  await app.close();
  console.log(JSON.stringify(facts));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
