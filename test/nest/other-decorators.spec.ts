import {
  Body,
  Controller,
  Get,
  Headers,
  HttpCode,
  Injectable,
  Param,
  Post,
  Query,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common';
import type { CallHandler, NestInterceptor } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { map } from 'rxjs';
import { ClusterSingleton, GatekeeperModule, currentPermit, memory } from 'nestjs-gatekeeper';
import { until, useApps } from '../support/apps.js';

const EVERY_SECOND = '* * * * * *';

@Injectable()
class Scheduled {
  readonly tokens: Record<string, number[]> = {};

  @ClusterSingleton('cron above', '10s')
  @Cron(EVERY_SECOND, { name: 'cron-above' })
  async cronAbove() {
    this.#note('cronAbove');
  }

  @Cron(EVERY_SECOND, { name: 'cron-below' })
  @ClusterSingleton('cron below', '10s')
  async cronBelow() {
    this.#note('cronBelow');
  }

  @ClusterSingleton('interval above', '10s')
  @Interval('interval-above', 10)
  async intervalAbove() {
    this.#note('intervalAbove');
  }

  @Interval('interval-below', 10)
  @ClusterSingleton('interval below', '10s')
  async intervalBelow() {
    this.#note('intervalBelow');
  }

  @ClusterSingleton('timeout above', '10s')
  @Timeout('timeout-above', 100)
  async timeoutAbove() {
    this.#note('timeoutAbove');
  }

  @Timeout('timeout-below', 100)
  @ClusterSingleton('timeout below', '10s')
  async timeoutBelow() {
    this.#note('timeoutBelow');
  }

  #note(method: string) {
    (this.tokens[method] ??= []).push(currentPermit().token);
  }
}

const METHODS = ['cronAbove', 'cronBelow', 'intervalAbove', 'intervalBelow', 'timeoutAbove', 'timeoutBelow'];

describe('@ClusterSingleton above and below the decorators of @nestjs/schedule', () => {
  const { boot, start } = useApps();

  it('lets each fire on one node of two', async () => {
    const store = memory();
    const metadata = { imports: [ScheduleModule.forRoot()], providers: [Scheduled] };
    const one = await boot(metadata, {}, store);
    const other = await boot(metadata, {}, store);
    const [mine, theirs] = [one.get(Scheduled).tokens, other.get(Scheduled).tokens];
    const fired = () => new Set([...Object.keys(mine), ...Object.keys(theirs)]).size;
    await until(() => fired() === METHODS.length);
    const skipped = (name: string) =>
      [...one.events, ...other.events].some((event) => event.type === 'run-skipped' && event.semaphore === name);
    await until(() => ['cron above', 'cron below', 'interval above', 'interval below'].every(skipped));
    for (const method of METHODS) {
      expect({ method, nodes: [mine, theirs].filter((tokens) => tokens[method]).length }).toEqual({ method, nodes: 1 });
    }
    expect(new Set(mine['intervalAbove'] ?? theirs['intervalAbove']).size).toBe(1);
  });

  it('leaves all in the SchedulerRegistry', async () => {
    const { app } = await boot({ imports: [ScheduleModule.forRoot()], providers: [Scheduled] });
    const registry = app.get(SchedulerRegistry);
    expect([...registry.getCronJobs().keys()].toSorted()).toEqual(['cron-above', 'cron-below']);
    expect(registry.getIntervals().toSorted()).toEqual(['interval-above', 'interval-below']);
    expect(registry.getTimeouts().toSorted()).toEqual(['timeout-above', 'timeout-below']);
  });

  it.each(['first', 'last'])('works when the GatekeeperModule is imported %s', async (place) => {
    const gatekeeper = GatekeeperModule.forRoot({ store: memory(), definitionsDelay: 0 });
    const imports = [ScheduleModule.forRoot(), gatekeeper];
    const app = await start({
      imports: place === 'first' ? imports.toReversed() : imports,
      providers: [Scheduled],
    });
    await until(() => app.get(Scheduled).tokens['intervalAbove'] !== undefined);
  });

  it('logs nothing louder than debug for what is skipped', async () => {
    const store = memory();
    const metadata = { imports: [ScheduleModule.forRoot()], providers: [Scheduled] };
    const nodes = [await boot(metadata, {}, store), await boot(metadata, {}, store)];
    const events = () => nodes.flatMap((node) => node.events);
    await until(() => events().filter(({ type }) => type === 'run-skipped').length > 5);
    const log = nodes.flatMap((node) => node.log);
    expect(log.filter((line) => /^(warn|error|fatal)/.test(line))).toEqual([]);
    expect(log.filter((line) => line.includes('skipped')).every((line) => line.startsWith('debug'))).toBe(true);
  });
});

class Noted {
  @SetMetadata('below', 1)
  @ClusterSingleton('noted', '10s')
  @SetMetadata('above', 2)
  async work() {}
}

@Injectable()
class Wrapping implements NestInterceptor {
  intercept(_: unknown, next: CallHandler) {
    return next.handle().pipe(map((value: unknown) => ({ wrapped: value })));
  }
}

@Controller('jobs')
class JobsController {
  @Get('above/:id')
  @ClusterSingleton('route above', '10s')
  async above(@Param('id') id: string, @Query('q') q: string): Promise<object | undefined> {
    return { id, q };
  }

  @ClusterSingleton('route below', '10s')
  @Post('below')
  @HttpCode(202)
  @UseInterceptors(Wrapping)
  async below(
    @Body() body: object,
    @Headers('x-tenant') tenant: string,
  ): Promise<{ body: object; tenant: string; token: boolean } | undefined> {
    return { body, tenant, token: currentPermit().token > 0 };
  }
}

describe('@ClusterSingleton beside decorators that note metadata', () => {
  const { boot } = useApps();

  it('keeps the metadata of those above and below', () => {
    expect(Reflect.getMetadata('below', Noted.prototype.work)).toBe(1);
    expect(Reflect.getMetadata('above', Noted.prototype.work)).toBe(2);
  });

  async function serve() {
    const { app, get } = await boot({ controllers: [JobsController] });
    await app.listen(0, '127.0.0.1');
    return { url: `${await app.getUrl()}/jobs`, get };
  }

  it('serves a route that stands above it, with its parameters', async () => {
    const { url } = await serve();
    const response = await fetch(`${url}/above/7?q=x`);
    expect([response.status, await response.json()]).toEqual([200, { id: '7', q: 'x' }]);
  });

  it('serves a route that stands below it, with its status, interceptor and parameters', async () => {
    const { url } = await serve();
    const headers = { 'content-type': 'application/json', 'x-tenant': 'a' };
    const response = await fetch(`${url}/below`, { method: 'POST', headers, body: '{"n":1}' });
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ wrapped: { body: { n: 1 }, tenant: 'a', token: true } });
  });

  it('guards the route: a node without the permit answers empty', async () => {
    const store = memory();
    const one = await boot({ controllers: [JobsController] }, {}, store);
    const other = await boot({ controllers: [JobsController] }, {}, store);
    expect(await one.get(JobsController).above('7', 'x')).toEqual({ id: '7', q: 'x' });
    await other.app.listen(0, '127.0.0.1');
    expect(await (await fetch(`${await other.app.getUrl()}/jobs/above/7`)).text()).toBe('');
  });
});
