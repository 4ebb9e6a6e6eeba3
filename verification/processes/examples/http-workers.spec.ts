import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { type Console, TOKENS, useConsoles } from '../../../test/console/consoles.js';
import { eventually } from '../../../test/contract/eventually.js';
import { lackOf } from '../../needs/programs.js';
import { describeUnless } from '../../../test/support/unless.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples/http/', import.meta.url));
/** ms. A worker must get through to renew it, on a machine that is busy, too. */
const LEASE = 5000;

/** Work that a test ends with a file; its data say how it goes on. */
const SHELL = `
data=$(cat)
echo "$TASK_TOKEN" > began.new; mv began.new began
trap 'touch stopped; exit 1' TERM
case $data in
  *wait*) while [ ! -e end ]; do sleep 0.05; done ;;
  *fail*) echo 'no disk' >&2; exit 1 ;;
  *invalid*) echo 'no address' >&2; exit 65 ;;
esac
echo '{"done": true}'
`;

const PYTHON = `
import os, sys, time
from worker import InvalidTask, Worker

def work(task):
    with open("began.new", "w") as began:
        began.write(str(task.token))
    os.rename("began.new", "began")
    if task.data == "fail":
        raise ValueError("no disk")
    if task.data == "invalid":
        raise InvalidTask("no address")
    while task.data == "wait" and not os.path.exists("end"):
        if task.lost.is_set():
            open("stopped", "w").close()
        task.assert_held()
        time.sleep(0.02)
    return {"done": True}

Worker(os.environ["GATEKEEPER_URL"], os.environ["GATEKEEPER_TOKEN"], {"mail": work}, lease=float(sys.argv[1]) / 1000).run_once()
`;

const WORKERS = ['worker.sh', 'worker.py'] as const;

describeUnless(await lackOf('bash', 'curl', 'jq', 'python3')).each(WORKERS)('%s', (script) => {
  const start = useConsoles();
  let console: Console;
  let folder: string;
  beforeEach(async () => {
    console = await start({ gatekeeper: { clockTolerance: 100 } });
    folder = await mkdtemp(join(tmpdir(), 'workers-'));
    await writeFile(join(folder, 'main.py'), PYTHON);
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Works on one task, in a group of processes of its own. */
  function run(token: string = TOKENS.operate) {
    const env = {
      GATEKEEPER_URL: console.url,
      GATEKEEPER_TOKEN: token,
      ONCE: '1',
      PYTHONPATH: EXAMPLES,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const start = execa({ cwd: folder, env, reject: false, detached: true });
    return script === 'worker.sh'
      ? start(join(EXAMPLES, script), ['mail', String(LEASE), 'bash', '-c', SHELL])
      : start('python3', ['main.py', String(LEASE)]);
  }

  /** The next attempt after a failure is later than the test looks. */
  const submit = (data: string) =>
    console.send('POST', '/api/tasks', { id: 'mail:a/b', data, backoff: { first: '1h', longest: '1h' } });
  const task = async () => (await console.get(`/api/tasks/${encodeURIComponent('mail:a/b')}`)).json.task;
  const text = (name: string) => readFile(join(folder, name), 'utf8').catch(() => '');
  const began = () => eventually('the work began', async () => (await text('began')) !== '');

  it('waits for a task, keeps it for longer than its lease, and completes it with a result', async () => {
    const running = run();
    await submit('wait');
    await began();
    const { token, lease } = await task();
    expect(await text('began')).toContain(String(token));
    await eventually('it was renewed', async () => (await task()).lease.until > lease.until + LEASE);
    await writeFile(join(folder, 'end'), '');
    expect(await running).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await task()).toMatchObject({ state: 'completed', result: { done: true }, crashes: 0 });
  });

  it.each([
    ['fail', 'delayed', 'no disk'],
    ['invalid', 'invalid', 'no address'],
  ])('reports an error: %s', async (data, state, message) => {
    await submit(data);
    await run();
    expect(await task()).toMatchObject({
      state,
      attempts: 1,
      lastError: { message: expect.stringContaining(message) },
    });
  });

  it('loses its task to another one after the lease when it is killed', async () => {
    await submit('wait');
    const killed = run();
    await began();
    const first = await task();
    process.kill(-killed.pid!, 'SIGKILL');
    await killed;
    const running = run();
    await eventually('another one has it', async () => (await task()).token > first.token);
    await writeFile(join(folder, 'end'), '');
    await running;
    expect(await task()).toMatchObject({ state: 'completed', crashes: 1 });
  });

  it('stops its work when the task is cancelled', async () => {
    await submit('wait');
    const running = run();
    await began();
    await console.send('POST', `/api/tasks/${encodeURIComponent('mail:a/b')}/cancel`, { reason: 'wrong' });
    await running;
    await eventually('the work stopped', async () => (await task()).state !== 'running');
    expect(await task()).toMatchObject({ state: 'cancelled' });
  });

  it('does not work with a token that may only look, and prints no token', async () => {
    await submit('wait');
    const { exitCode, stderr } = await run(TOKENS.view);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('role-too-low');
    expect(stderr).not.toContain(TOKENS.view);
    expect(await task()).toMatchObject({ state: 'waiting' });
  });
});
