import { Injectable } from '@nestjs/common';
import {
  GatekeeperService,
  TaskCancelledError,
  type TaskContext,
  TaskHandler,
  TasksService,
  grouped,
  memory,
  single,
} from 'nestjs-gatekeeper';
import { type App, until, useApps } from '../support/apps.js';

const { boot } = useApps();

const NAME = single('mail', 'order-7');
const tasksOf = (app: App) => app.get(TasksService);

@Injectable()
class Mails {
  readonly contexts: TaskContext[] = [];
  isMended = false;

  @TaskHandler('mail', { lease: '1h' })
  async send(task: TaskContext) {
    this.contexts.push(task);
    if (this.isMended) return 'sent';
    if (task.data === 'bad') throw new Error('no route to host');
    return new Promise((_, reject) => task.signal.addEventListener('abort', () => reject(task.signal.reason as Error)));
  }
}

async function bootBoth() {
  const store = memory();
  return { submitter: await boot({}, {}, store), app: await boot({ providers: [Mails] }, {}, store) };
}

describe('a task by its id', () => {
  it('is cancelled through TasksService: its handler gets the reason', async () => {
    const { app } = await bootBoth();
    const mails = app.get(Mails);
    await tasksOf(app).submit(NAME);
    await until(() => mails.contexts.length === 1);
    expect(await tasksOf(app).explain(NAME)).toMatchObject({ reason: 'running', isHere: true });
    const answer = await tasksOf(app).cancel(NAME, { by: 'ada', reason: 'sent by hand' });
    expect(answer).toMatchObject({ id: NAME.id, outcome: 'requested' });
    expect(mails.contexts[0]!.signal.reason).toBeInstanceOf(TaskCancelledError);
    await until(async () => (await tasksOf(app).find(NAME))?.state === 'cancelled');
    expect(await tasksOf(app).explain(NAME)).toMatchObject({
      reason: 'ended',
      task: { state: 'cancelled', cancel: { by: 'ada', reason: 'sent by hand' } },
    });
  });

  it('says its progress, and ends with its whole group through TasksService', async () => {
    const { app, submitter } = await bootBoth();
    const { contexts } = app.get(Mails);
    const ended: number[][] = [];
    tasksOf(app).onGroupFinished('mail', ({ failed, total }) => ended.push([failed, total]));
    for (const number of [1, 2]) await tasksOf(submitter).submit(grouped('mail', 'june', number, 3));
    await until(() => contexts.length === 2);
    contexts[0]!.progress(1, 4, 'letters');
    const name = contexts[0]!.id;
    await until(async () => (await tasksOf(submitter).find(name))?.progress?.note === 'letters');
    const answer = await tasksOf(app).cancelGroup('mail', 'june', { by: 'ada', reason: 'the wrong month' });
    expect(answer).toMatchObject({ id: 'mail[june]', outcome: 'cancelled' });
    for (const { signal } of contexts) expect(signal.reason).toMatchObject({ by: 'ada', reason: 'the wrong month' });
    await tasksOf(submitter).submit(grouped('mail', 'june', 3, 3));
    await until(() => ended.length === 1);
    expect(ended).toEqual([[3, 3]]);
    expect(contexts).toHaveLength(2);
  });

  it('is retried through TasksService', async () => {
    const { app, submitter } = await bootBoth();
    await tasksOf(submitter).submit(NAME, 'bad', { maxAttempts: 1 });
    await until(async () => (await tasksOf(submitter).find(NAME))?.state === 'failed');
    app.get(Mails).isMended = true;
    expect(await tasksOf(submitter).retry(NAME)).toMatchObject({ outcome: 'retried' });
    await until(async () => (await tasksOf(submitter).find(NAME))?.state === 'completed');
    expect(await tasksOf(submitter).find(NAME)).toMatchObject({ result: 'sent', attempts: 0 });
  });

  it('is found, explained, cancelled and retried through the facade of a node without a handler', async () => {
    const app = await boot({});
    const { tasks } = app.get(GatekeeperService);
    await tasks.submit(NAME, 'data');
    expect(await tasks.find('mail:order-7')).toMatchObject({ state: 'waiting', data: 'data' });
    const explanation = await tasks.explain('mail:order-7');
    expect(explanation).toMatchObject({ reason: 'waiting', task: { type: 'mail' } });
    expect(explanation).not.toHaveProperty('here');
    expect(await tasks.cancel('mail:order-7')).toMatchObject({ outcome: 'cancelled' });
    expect(await tasks.cancel('mail:order-7')).toMatchObject({ outcome: 'ended' });
    expect(await tasks.retry('mail:order-7')).toMatchObject({ outcome: 'retried' });
    expect(await tasks.retry('mail:order-7')).toMatchObject({ outcome: 'refused' });
  });
});
