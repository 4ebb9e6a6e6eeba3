import { grouped, single } from 'nestjs-gatekeeper';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { openOperator } from '../../lib/cli/session/open-operator.js';
import { TOKENS, useConsoles } from '../console/consoles.js';
import { eventually } from '../contract/eventually.js';
import { losingTasks } from '../console/losing-tasks.js';
import { call, commandLine } from './command-line.js';
import { useMemoryCluster } from './memory-cluster.js';

describe.each(['over HTTP', 'directly'])('tasks on the command line, %s', (way) => {
  const cluster = useMemoryCluster();
  const start = useConsoles();

  async function target() {
    const { store, gatekeeper } = cluster();
    const console = await start({ store });
    const { tasks } = console.gatekeeper;
    const options = { open: openOperator, env: { GATEKEEPER_URL: console.url, GATEKEEPER_TOKEN: TOKENS.define } };
    return { console, tasks, run: way === 'directly' ? gatekeeper : (args: string[]) => call(args, options) };
  }

  it('submits a task, explains it, cancels it, and lets it run again', async () => {
    const { tasks, run } = await target();
    const submitted = await run(['tasks', 'submit', 'mail:a/b', '--data', '{"to":"ada"}', '--priority', 'high']);
    expect(submitted).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^mail:a\/b: created \(.+\)\n$/) });
    expect(await tasks.find('mail:a/b')).toMatchObject({ data: { to: 'ada' }, priority: 'high' });
    const explained = await run(['tasks', 'explain', 'mail:a/b']);
    expect(explained.out).toMatch(/^mail:a\/b: .+\nstate +waiting\n/);
    expect((await run(['tasks', 'cancel', 'mail:a/b'])).out).toMatch(/^mail:a\/b: cancelled \(.+\)\n$/);
    expect((await run(['tasks', 'list'])).out).toMatch(/^mail:a\/b +cancelled +0 +0 .*cancelled by (ann|dora)$/m);
    expect((await run(['tasks', 'retry', 'mail:a/b'])).out).toMatch(/^mail:a\/b: runs again \(.*\(cancelled\)\)\n$/);
    const again = await run(['tasks', 'retry', 'mail:a/b']);
    expect([again.exitCode, again.err]).toEqual([4, expect.stringContaining('it has not ended')]);
    await eventually('the changes are written', async () =>
      /retry-task +task:mail .* mail:a\/b/.test((await run(['audit', 'task:mail'])).out),
    );
  });

  it('takes a task from a program that hangs', async () => {
    const { console, run } = await target();
    await run(['tasks', 'submit', 'mail:one']);
    const claim = { types: ['mail'], lease: '1h' };
    const { tasks: claimed } = (await console.send('POST', '/api/tasks/claim', claim)).json;
    expect((await run(['tasks', 'release', 'mail:one', '--reason', 'hangs'])).out).toMatch(/^mail:one: waits again /);
    const refused = await console.send('POST', '/api/tasks/mail%3Aone/renew', { token: claimed[0].token });
    expect(refused.json.code).toBe('lease-expired');
    expect(await run(['tasks', 'release', 'mail:one'])).toMatchObject({ exitCode: 4 });
    expect(await run(['tasks', 'release', 'mail:none'])).toMatchObject({ exitCode: 3 });
    expect(await run(['tasks', 'submit', 'cron.report:2999-01-01T03:00:00Z'])).toMatchObject({ out: '' });
    await eventually('the changes are written', async () =>
      /release-task +task:mail .* mail:one/.test((await run(['audit', 'task:mail'])).out),
    );
  });

  it('submits a task that waits for others, of a key, for some nodes, or in turn', async () => {
    const { tasks, run } = await target();
    await run(['tasks', 'submit', 'prices:june']);
    await run(['tasks', 'submit', 'import[june]#1', '--total', '1']);
    const after = ['--after', 'prices:june'];
    await run(['tasks', 'submit', 'clean:june', ...after, '--after-failed', 'run']);
    expect(await run(['tasks', 'submit', 'report:june', ...after, '--after', 'import[june]'])).toMatchObject({
      exitCode: 0,
      err: '',
    });
    expect(await tasks.find('report:june')).toMatchObject({ state: 'blocked', after: ['prices:june', 'import[june]'] });
    const key = ['--unique-key', 'berlin', '--unique-during', 'waiting', '--on-conflict', 'replace'];
    await run(['tasks', 'submit', 'reindex:one', ...key]);
    const { out } = await run(['tasks', 'submit', 'reindex:two', '--data', '2', ...key]);
    expect(out).toMatch(/^reindex:berlin: replaced /);
    expect(await tasks.find('reindex:berlin')).toMatchObject({ data: 2 });
    await run(['tasks', 'submit', 'warm-up:eu', '--to', 'batch-.*', '--to-group', 'eu', '--to-instance', 'one']);
    expect((await tasks.find('warm-up:eu'))?.to).toEqual({ group: 'eu', acquirer: 'batch-.*', instance: 'one' });
    await run(['tasks', 'submit', 'deliver:one', '--fair-key', 'ada']);
    expect(await tasks.find('deliver:one')).toMatchObject({ fairKey: 'ada' });
    await tasks.cancel('prices:june');
    await eventually('one may run', async () => (await tasks.find('clean:june'))?.state === 'waiting');
    await eventually('one is cancelled', async () => (await tasks.find('report:june'))?.state === 'cancelled');
  });

  it('cancels a group', async () => {
    const { tasks, run } = await target();
    await run(['tasks', 'submit', 'import[june]#1', '--total', '2']);
    const { out } = await run(['tasks', 'cancel-group', 'import[june]', '--reason', 'wrong month']);
    expect(out).toMatch(/^import\[june\]: cancelled \(.* by (ann|dora)\)$/m);
    await tasks.submit(grouped('import', 'june', 2, 2));
    await eventually('the members are cancelled', async () => {
      const states = await Promise.all([1, 2].map((number) => tasks.find(grouped('import', 'june', number))));
      return states.every((task) => task?.state === 'cancelled' && task.cancel?.reason === 'wrong month');
    });
  });

  it('lists the tasks of a state and a type, over many pages', async () => {
    const { tasks, run } = await target();
    for (const type of ['letter', 'mail', 'mail2']) {
      await tasks.submitMany(Array.from({ length: 120 }, (_, index) => ({ name: single(type, `${index}`) })));
    }
    const list = async (...args: string[]) => JSON.parse((await run(['tasks', 'list', '--json', ...args])).out).tasks;
    const mails = await list('--state', 'waiting', '--type', 'mail', '--limit', '200');
    expect(new Set(mails.map(({ id }: { id: string }) => id)).size).toBe(120);
    expect(await list('--state', 'waiting', '--limit', '300')).toHaveLength(300);
    expect(await list('--state', 'running')).toEqual([]);
    const types = JSON.parse((await run(['tasks', 'types', '--json'])).out);
    expect(types.waiting.map(({ type }: { type: string }) => type)).toEqual(['letter', 'mail', 'mail2']);
    expect((await run(['tasks', 'types'])).out).toMatch(/^mail2 +20.*Z +-$/m);
  });

  it('says how many tasks it can not read, and ends with 1', async () => {
    const { console, tasks, run } = await target();
    await tasks.submitMany(Array.from({ length: 120 }, (_, index) => ({ name: single('mail', `${index}`) })));
    const client = partsOf(console.gatekeeper).openStore();
    const rows = await client.tasks.range('w|mail', 'w}', 200);
    for (const { key, text } of [rows[0]!, rows[119]!]) {
      await client.tasks.compareAndSet(key, text, text.replace('"v":1', '"v":99'));
    }
    await client.close();
    const list = ['tasks', 'list', '--state', 'waiting', '--limit', '200'];
    const { exitCode, out, err } = await run([...list, '--json']);
    expect([exitCode, JSON.parse(out).tasks.length, JSON.parse(out).leftOut]).toEqual([1, 118, 2]);
    expect(err).toMatch(/^gatekeeper: 2 of the tasks .* can't be read here, and are left out/);
    expect((await run(list)).err).toBe(err);
  });

  it('says that more types wait than it lists', async () => {
    const { tasks, run } = await target();
    await tasks.submitMany(Array.from({ length: 101 }, (_, index) => ({ name: single(`a-${index}`, 'one') })));
    const { exitCode, out, err } = await run(['tasks', 'types', '--json']);
    expect([exitCode, JSON.parse(out).waiting.length, JSON.parse(out).isCut]).toEqual([0, 100, true]);
    expect(err).toBe('gatekeeper: not all types are listed: tasks of more types may wait\n');
  });

  it('finds dead letters among completed tasks', async () => {
    const { console, run } = await target();
    const { tasks } = console.gatekeeper;
    await tasks.submitMany(Array.from({ length: 700 }, (_, index) => ({ name: single('mail', `${index}`) })));
    tasks.handlers.handle('mail', () => 1, { concurrency: 100 });
    tasks.handlers.start();
    await eventually('most are completed', async () => (await tasks.find('mail:699'))?.state === 'completed');
    await tasks.submit(single('letter', 'one'));
    await tasks.cancel('letter:one');
    const { out } = await run(['tasks', 'list', '--json']);
    expect(JSON.parse(out).tasks).toMatchObject([{ id: 'letter:one', state: 'cancelled' }]);
  });

  it('pauses and resumes a type that has a limit', async () => {
    const { console, run } = await target();
    const none = await run(['tasks', 'pause', 'mail']);
    expect([none.exitCode, none.err]).toEqual([3, expect.stringContaining('gatekeeper define task:mail')]);
    await run(['define', 'task:mail', '--permits', '1000', '--duration', '1m']);
    expect((await run(['tasks', 'pause', 'mail', '--reason', 'slow'])).out).toBe(
      'mail: paused in the whole cluster until it is resumed, also after restarts\n',
    );
    expect((await console.gatekeeper.definitions.get('task:mail'))!.pause).toMatchObject({ reason: 'slow' });
    expect((await run(['tasks', 'resume', 'mail'])).out).toContain('mail: resumed in the whole cluster');
  });

  it.each([
    [['explain', 'mail:none'], 3],
    [['cancel', 'mail:none'], 3],
    [['retry', 'mail:none'], 3],
    [['cancel-group', 'import[none]'], 3],
    [['cancel-group', 'mail:none'], 2],
    [['cancel-group'], 2],
    [['submit', 'order-7'], 2],
    [['submit', 'mail:a', '--data', '{'], 2],
    [['submit', 'mail:a', '--after', 'mail:none'], 2],
    [['submit', 'mail:a', '--after-failed', 'stop'], 2],
    [['submit', 'mail:a', '--unique-during', 'ever'], 2],
    [['submit', 'mail:a', '--to', 'a('], 2],
    [['submit', 'mail:a', '--to-instance', ''], 2],
    [['submit', 'mail:a', '--to-group', 'eu', '--fair-key', 'ada'], 2],
    [['submit', 'mail:a', '--fair-key', ''], 2],
    [['submit'], 2],
    [['types', 'mail'], 2],
  ])('ends with the right code: %j', async (args, exitCode) => {
    const { run } = await target();
    expect(await run(['tasks', ...args])).toMatchObject({ exitCode, out: '' });
  });
});

describe('a change of tasks, directly', () => {
  const cluster = useMemoryCluster();

  it.each([
    ['cancel-task', ['cancel', 'mail:one'], 'mail:one'],
    ['cancel-group', ['cancel-group', 'import[june]'], 'import[june]'],
    ['retry-task', ['retry', 'mail:dead'], 'mail:dead'],
  ])('is in the audit log also if its answer was lost: %s', async (action, args, task) => {
    const { store, loseNextAnswer, giveBack } = losingTasks();
    const { tasks } = await cluster(store).node();
    await tasks.submit(single('mail', 'one'));
    await tasks.submit(grouped('import', 'june', 1, 2));
    await tasks.submit(single('mail', 'dead'));
    await tasks.cancel('mail:dead');
    const run = commandLine(store);
    loseNextAnswer();
    const lost = await run(['--timeout', '1s', 'tasks', ...args, '--reason', 'wrong month']);
    expect(lost.err).toContain('no clear answer within 1000 ms, and a write may have been applied');
    giveBack();
    const entries = async () => JSON.parse((await run(['audit', '--json'])).out).entries;
    await eventually('the change is noted', async () => (await entries()).length > 0);
    expect(await entries()).toMatchObject([{ action, by: 'ann', reason: 'wrong month', task, outcome: 'unknown' }]);
  });
});
