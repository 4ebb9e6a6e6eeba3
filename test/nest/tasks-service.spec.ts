import { type SubmitManyError, TasksService, defineTask, grouped, single } from 'nestjs-gatekeeper';
import { GatekeeperTestingModule } from 'nestjs-gatekeeper/testing';
import { type App, bootError, until, useApps } from '../support/apps.js';
import { refused } from '../support/refused.js';

const { boot, start } = useApps();

const mail = defineTask<{ to: string }, { sent: string }>('mail');
const tasksOf = (app: App) => app.get(TasksService);

describe('TasksService', () => {
  it('adds handlers while the application runs', async () => {
    const app = await boot({});
    const log: string[] = [];
    tasksOf(app).handle(mail, ({ data }) => ({ sent: data.to }));
    tasksOf(app).onGroupFinished('mail', ({ group }) => log.push(group));
    tasksOf(app).onInvalid(() => undefined);
    await tasksOf(app).submit(grouped(mail, 'may', 1, 1), { to: 'ada' });
    await until(() => log.length === 1);
    expect(log).toEqual(['may']);
    expect(() => tasksOf(app).handle('mail', () => 1)).toThrow(refused('type'));
  });

  it('submits the tasks of a generator, and answers in its order', async () => {
    const app = await boot({});
    async function* mails() {
      for (let number = 0; number < 200; number++) yield { name: single(mail, `m${number}`), data: { to: 'ada' } };
    }
    const outcomes = await tasksOf(app).submitMany(mails());
    expect(outcomes.map(({ id }) => id)).toEqual(Array.from({ length: 200 }, (_, number) => `mail:m${number}`));
    const again = await tasksOf(app).submitMany(mails());
    expect(new Set(again.map(({ outcome }) => outcome))).toEqual(new Set(['known']));
  });

  it('stops a list at the first error, and says what was submitted', async () => {
    const app = await boot({});
    const list = Array.from({ length: 1000 }, (_, number) => ({
      name: single('note', String(number)),
      data: number === 100 ? () => number : number,
    }));
    const error = (await bootError(tasksOf(app).submitMany(list))) as SubmitManyError;
    expect(error).toMatchObject({ code: 'submit-many', cause: { code: 'invalid-options' } });
    const { outcomes, submitted } = error;
    expect(outcomes[99]).toMatchObject({ id: 'note:99', outcome: 'created' });
    expect(outcomes[100]).toBeUndefined();
    expect(outcomes.length).toBeLessThan(1000);
    expect(outcomes.filter((outcome) => outcome !== undefined)).toHaveLength(submitted);
    await expect(tasksOf(app).find('note:999')).resolves.toBeUndefined();
  });

  it('refuses data above tasks.maxBytes, and a name that is none', async () => {
    const app = await boot({}, { tasks: { maxBytes: 10 } });
    await expect(tasksOf(app).submit(single('note', 'one'), 'x'.repeat(9))).rejects.toThrow('11 bytes as JSON');
    await expect(tasksOf(app).submit('note:one' as never)).rejects.toThrow(refused('name'));
  });

  it('is there in unit tests with a TestGatekeeper: tasks wait', async () => {
    const app = await start({ imports: [GatekeeperTestingModule.forRoot()] });
    const tasks = app.get(TasksService);
    await tasks.submit(single(mail, 'one'), { to: 'ada' });
    expect(await tasks.find('mail:one')).toMatchObject({ state: 'waiting', data: { to: 'ada' } });
  });
});
