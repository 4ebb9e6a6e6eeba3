import { type CanActivate, Catch, type ExceptionFilter, ValidationPipe, VersioningType } from '@nestjs/common';
import { describeApi, expectProblem } from './api.contract.js';
import { PLATFORMS, useConsoles } from './consoles.js';

@Catch()
class HostFilter implements ExceptionFilter {
  catch(): never {
    throw new Error("the application's own filter was asked");
  }
}

describe.each(PLATFORMS)(
  'in an application with a guard, prefix, pipe, filter and versions of its own, on %s',
  (platform) => {
    const start = useConsoles();
    const asked: string[] = [];
    const guard: CanActivate = {
      canActivate: (context) => {
        const { headers, url } = context.switchToHttp().getRequest();
        asked.push(url);
        return headers['x-banned'] === undefined;
      },
    };
    const host = {
      platform,
      prefix: 'internal/v1',
      prepare: (app: Parameters<NonNullable<NonNullable<Parameters<typeof start>[0]>['prepare']>>[0]) => {
        app.useGlobalGuards(guard);
        app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
        app.useGlobalFilters(new HostFilter());
        app.enableVersioning({ type: VersioningType.URI, defaultVersion: '7' });
      },
    };

    describeApi(() => start(host));

    it("asks the application's guard, and refuses in the console's words", async () => {
      const { get } = await start(host);
      expectProblem(await get('/api/session', { headers: { 'x-banned': '1' } }), 403, 'forbidden');
      expect(asked).toContain('/internal/v1/gatekeeper/api/session');
    });

    it('reads bodies itself where the application has no parser', async () => {
      const { send } = await start({ ...host, application: { bodyParser: false } });
      const answer = await send('POST', '/api/semaphores', { name: 'job', duration: '10s' });
      expect(answer.status).toBe(201);
    });
  },
);
