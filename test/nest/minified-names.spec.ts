import { ClusterCron, ClusterSingleton, InvalidOptionsError, TasksService } from 'nestjs-gatekeeper';
import { bootError, useApps } from '../support/apps.js';

const { boot } = useApps();

/** The class with a name as a minifier gives it. */
function minified<T extends object>(type: T): T {
  return Object.defineProperty(type, 'name', { value: 'e2' });
}

describe('a class whose name is minified', () => {
  it('names no schedule: the next build would make another one', async () => {
    class Reports {
      @ClusterCron('0 3 * * *')
      nightly() {}
    }
    const error = await bootError(boot({ providers: [minified(Reports)] }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toContain('e2.nightly');
  });

  it('may have a schedule with a name of its own', async () => {
    class Reports {
      @ClusterCron('0 3 * * *', { name: 'nightly' })
      nightly() {}
    }
    const app = await boot({ providers: [minified(Reports)] });
    expect((await app.get(TasksService).schedules()).map(({ name }) => name)).toEqual(['nightly']);
  });

  it('names jobs with one warning for all of them', async () => {
    class Jobs {
      @ClusterSingleton('one', '10s')
      async one() {}

      @ClusterSingleton('two', '10s')
      async two() {}
    }
    const { log } = await boot({ providers: [minified(Jobs)] });
    const warnings = log.filter((line) => line.startsWith('warn'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('e2.one, e2.two');
  });
});
