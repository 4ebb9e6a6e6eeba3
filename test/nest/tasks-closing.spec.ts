import { Injectable } from '@nestjs/common';
import { type TaskContext, TaskHandler, TasksService, memory, single } from 'nestjs-gatekeeper';
import { type App, until, useApps } from '../support/apps.js';

const { boot } = useApps();

const tasksOf = (app: App) => app.get(TasksService);

async function endOf(app: App, id: string) {
  await until(async () => (await tasksOf(app).find(id))?.keptUntil !== undefined);
  return (await tasksOf(app).find(id))!;
}

describe('app.close() in the middle of a task', () => {
  /** A handler that is called once by the first node, and ends when the test says so. */
  function endless() {
    let begin!: (task: TaskContext) => void;
    let end!: (result: string) => void;
    const begun = new Promise<TaskContext>((resolve) => (begin = resolve));
    const ended = new Promise<string>((resolve) => (end = resolve));
    @Injectable()
    class Endless {
      @TaskHandler('endless', { lease: '1h' })
      async run(task: TaskContext) {
        begin(task);
        return Promise.race([
          ended,
          new Promise((_, reject) => task.signal.addEventListener('abort', () => reject(task.signal.reason as Error))),
        ]);
      }
    }
    return { Endless, begun, end };
  }

  it('waits for the handler, and its result is kept', async () => {
    const store = memory();
    const { Endless, begun, end } = endless();
    const [other, app] = [await boot({}, {}, store), await boot({ providers: [Endless] }, {}, store)];
    await tasksOf(app).submit(single('endless', 'one'));
    const task = await begun;
    const closed = app.app.close();
    await tasksOf(other).submit(single('endless', 'two'));
    expect(task.signal.aborted).toBe(false);
    end('done');
    await closed;
    const one = await tasksOf(other).find('endless:one');
    expect(one).toMatchObject({ state: 'completed', result: 'done' });
    expect(await tasksOf(other).find('endless:two')).toMatchObject({ state: 'waiting', crashes: 0 });
  });

  it('aborts the signal after shutdownGrace, and another node gets the task at once', async () => {
    const store = memory();
    const { Endless, begun } = endless();
    const app = await boot({ providers: [Endless] }, { shutdownGrace: 20 }, store);
    await tasksOf(app).submit(single('endless', 'one'));
    const task = await begun;
    await app.app.close();
    expect(task.signal.reason).toMatchObject({ code: 'closing' });
    const other = await boot({}, {}, store);
    tasksOf(other).handle('endless', ({ attempt, token }) => ({ attempt, isNewer: token > task.token }));
    expect(await endOf(other, 'endless:one')).toMatchObject({
      attempts: 0,
      crashes: 0,
      result: { attempt: 1, isNewer: true },
    });
  });
});
