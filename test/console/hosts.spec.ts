import { Catch, type ExceptionFilter, ForbiddenException, ValidationPipe, VersioningType } from '@nestjs/common';
import { describeApi } from './api.contract.js';
import { type Host, PLATFORMS, useConsoles } from './consoles.js';

@Catch()
class HostFilter implements ExceptionFilter {
  catch(): never {
    throw new Error("the application's own filter was asked");
  }
}

describe.each(PLATFORMS)(
  'in an application with a guard, prefix, pipe, interceptor, filter and versions of its own, on %s',
  (platform) => {
    const start = useConsoles();
    const refuse = (): never => {
      throw new ForbiddenException('nothing of the console comes here');
    };
    const host: Host = {
      platform,
      prefix: 'internal/v1',
      prepare: (app) => {
        app.useGlobalGuards({ canActivate: refuse });
        app.useGlobalInterceptors({ intercept: refuse });
        app.useGlobalPipes({ transform: refuse }, new ValidationPipe({ forbidNonWhitelisted: true, transform: true }));
        app.useGlobalFilters(new HostFilter());
        app.enableVersioning({ type: VersioningType.URI, defaultVersion: '7' });
      },
    };

    describeApi(() => start(host));

    it('reads bodies itself where the application has no parser', async () => {
      const { send } = await start({ ...host, application: { bodyParser: false } });
      const answer = await send('POST', '/api/semaphores', { name: 'job', duration: '10s' });
      expect(answer.status).toBe(201);
    });
  },
);
