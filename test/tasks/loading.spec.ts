import { single } from 'nestjs-gatekeeper';
import { InvalidOptionsError } from '../../lib/core/decision/index.js';
import { taskCode } from '../../lib/tasks/task-code.js';
import { type TestCluster, type TestNode, useCluster } from '../support/nodes.js';

/** ms in which a node that works has done a task. */
const DONE = 5000;

const tasksOf = ({ gatekeeper }: TestNode) => gatekeeper.tasks;

describe('before the code of tasks is loaded, a node', () => {
  const { loaded } = taskCode;
  const newCluster = useCluster();
  let cluster: TestCluster;

  beforeEach(() => {
    cluster = newCluster();
    taskCode.set(undefined);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    taskCode.set(loaded);
  });

  it('uses no tasks, and says so without loading it', async () => {
    const node = await cluster.node();
    const { handlers, schedules, work } = tasksOf(node);
    await tasksOf(node).start();
    expect(handlers.types()).toEqual([]);
    expect(work.list(handlers)).toEqual([]);
    expect(schedules.remove('nightly')).toBe(false);
    await cluster.closeOne(node);
    expect(tasksOf(node).opened).toBeUndefined();
    expect(taskCode.loaded).toBeUndefined();
  });

  it('knows its handlers at once, and refuses wrong ones at once', async () => {
    const { handlers, schedules } = tasksOf(await cluster.node());
    handlers.handle('mail', () => 1, { concurrency: 3 });
    expect(() => handlers.handle('mail', () => 2)).toThrow(InvalidOptionsError);
    expect(() => handlers.handle('fax', () => 2, { concurrency: 0 })).toThrow(InvalidOptionsError);
    expect(() => handlers.pauseType('fax')).toThrow(InvalidOptionsError);
    schedules.add('nightly', '0 3 * * *', () => 1);
    expect(() => schedules.add('nightly', '0 4 * * *', () => 1)).toThrow(InvalidOptionsError);
    handlers.pauseType('mail');
    expect(taskCode.loaded).toBeUndefined();
    expect(handlers.types()).toEqual([
      { type: 'mail', handles: 'tasks', concurrency: 3, running: 0, obstacle: 'paused-here' },
      { type: 'cron.nightly', handles: 'tasks', concurrency: 4, running: 0 },
    ]);
  });

  it('loads it with its start, if it has a handler by then', async () => {
    const node = await cluster.node();
    const tasks = tasksOf(node);
    const done: unknown[] = [];
    tasks.handlers.handle('mail', ({ data }) => done.push(data));
    await tasks.start();
    expect(tasks.opened).toBeDefined();
    await tasks.submit(single('mail', 'a'), 1);
    await cluster.time.advance(DONE);
    expect(done).toEqual([1]);
  });

  it('begins to work on a handler that is added after its start as soon as it is loaded', async () => {
    const node = await cluster.node();
    const tasks = tasksOf(node);
    await tasks.start();
    const done: unknown[] = [];
    tasks.handlers.handle('mail', ({ data }) => done.push(data));
    await tasks.submit(single('mail', 'a'), 1);
    await cluster.time.advance(DONE);
    expect(done).toEqual([1]);
  });

  it('keeps a pause, and forgets a handler that is removed', async () => {
    const node = await cluster.node();
    const tasks = tasksOf(node);
    const done: unknown[] = [];
    for (const type of ['mail', 'fax']) tasks.handlers.handle(type, ({ data }) => done.push(data));
    tasks.handlers.pauseType('mail');
    tasks.handlers.remove('fax');
    await tasks.start();
    await tasks.submit(single('mail', 'a'), 'mail');
    await tasks.submit(single('fax', 'a'), 'fax');
    await cluster.time.advance(DONE);
    expect(done).toEqual([]);
    tasks.handlers.resumeType('mail');
    await cluster.time.advance(DONE);
    expect(done).toEqual(['mail']);
    expect(tasks.handlers.types()).toMatchObject([{ type: 'mail' }]);
  });

  it('runs a schedule that was made before, and none that was ended before', async () => {
    const node = await cluster.node();
    const tasks = tasksOf(node);
    const ticks: string[] = [];
    for (const name of ['kept', 'ended'])
      tasks.schedules.add(name, '* * * * *', ({ schedule }) => ticks.push(schedule));
    expect(tasks.schedules.remove('ended')).toBe(true);
    await tasks.start();
    await cluster.time.advance(2 * 60_000);
    expect(new Set(ticks)).toEqual(new Set(['kept']));
  });

  it('submits data as they are at the call', async () => {
    const { time } = cluster;
    const node = await cluster.node();
    const data = { to: 'ada' };
    const submitting = tasksOf(node).submit(single('mail', 'a'), data);
    data.to = 'otto';
    await submitting;
    await time.advance(0);
    expect(await tasksOf(node).find('mail:a')).toMatchObject({ data: { to: 'ada' } });
  });

  it('may close: then its handlers take no task', async () => {
    const [node, other] = [await cluster.node(), await cluster.node()];
    const done: unknown[] = [];
    tasksOf(node).handlers.handle('mail', ({ data }) => done.push(data));
    const starting = tasksOf(node).start();
    const closing = cluster.closeOne(node);
    await starting;
    await closing;
    await tasksOf(other).submit(single('mail', 'a'), 1);
    await cluster.time.advance(DONE);
    expect(done).toEqual([]);
  });

  it('reports that the code can not be loaded, and tries again at the next call', async () => {
    const load = jest.spyOn(taskCode, 'load').mockRejectedValue(new Error('no such file'));
    const node = await cluster.node();
    const tasks = tasksOf(node);
    const done: unknown[] = [];
    tasks.handlers.handle('mail', ({ data }) => done.push(data));
    await expect(tasks.start()).rejects.toThrow('no such file');
    expect(node.of('problem')).toMatchObject([{ action: 'load the code of tasks' }]);
    load.mockRestore();
    await tasks.submit(single('mail', 'a'), 1);
    await cluster.time.advance(DONE);
    expect(done).toEqual([1]);
  });
});
