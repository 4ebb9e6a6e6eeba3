import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { execa } from 'execa';
import { type Console, TOKENS, useConsoles } from '../console/consoles.js';
import { eventually } from '../contract/eventually.js';
import { lackOf } from '../needs/programs.js';
import { describeUnless } from '../needs/unless.js';
import { until } from '../support/apps.js';
import { cut, useMeddlingProxies } from './meddling-proxy.js';

const EXAMPLES = fileURLToPath(new URL('../../examples/http/', import.meta.url));
const TOLERANCE = 100;

describeUnless(await lackOf('python3'))('permit.py among faults', () => {
  const start = useConsoles();
  const meddling = useMeddlingProxies();
  let console: Console;
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'permits-'));
    const definitions = [{ name: 'export', duration: '10s' }];
    console = await start({ gatekeeper: { definitions, clockTolerance: TOLERANCE } });
    await writeFile(join(folder, 'main.py'), MAIN);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const run = (url: string, { duration, wait = 0 }: { duration: number; wait?: number }) => {
    const env = {
      GATEKEEPER_URL: url,
      GATEKEEPER_TOKEN: TOKENS.define,
      PYTHONPATH: EXAMPLES,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    return execa({ cwd: folder, env, reject: false })('python3', [
      'main.py',
      String(duration / 1000),
      String(wait / 1000),
    ]);
  };
  const end = () => writeFile(join(folder, 'end'), '');
  const hasBegun = () => existsSync(join(folder, 'began'));
  const holders = async () => (await console.gatekeeper.state()).semaphores[0]!.holders;

  it('keeps its permit when an answer to a refresh is cut in its body, and its release may be cut, too', async () => {
    let cuts = 0;
    const url = await meddling(console.url, ({ path }) =>
      (path.endsWith('/refresh') && cuts++ === 0) || path.endsWith('/release') ? cut : undefined,
    );
    const running = run(url, { duration: 3000 });
    await eventually('it began', hasBegun);
    const [holder] = await holders();
    await eventually('it was refreshed twice', () => cuts > 2);
    expect((await holders())[0]!.expiresAt).toBeGreaterThan(holder!.expiresAt);
    await end();
    expect(await running).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('asks again while the answer is 503 or cut, and is given the permit that it was granted', async () => {
    const seen: string[] = [];
    const url = await meddling(console.url, ({ path, body }) => {
      if (path !== '/api/permits') return undefined;
      seen.push(JSON.parse(body).id);
      if (seen.length === 1) return (_, response) => void response.writeHead(503, { 'retry-after': '0' }).end('{}');
      return seen.length === 2 ? cut : undefined;
    });
    const running = run(url, { duration: 5000 });
    await eventually('it began', hasBegun);
    expect(seen).toEqual([seen[0], seen[0], seen[0]]);
    await end();
    expect(await running).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await holders()).toEqual([]);
  });

  it('says what is wrong with a path that leads elsewhere', async () => {
    const { exitCode, stderr } = await run(console.url.replace('/gatekeeper', '/elsewhere'), { duration: 5000 });
    expect(exitCode).toBe(75);
    expect(stderr).toContain('404');
    expect(stderr).not.toContain('None');
  });

  it('never believes in a permit that ended while its answer lay in the socket', async () => {
    const held = (await console.gatekeeper.tryAcquire('export'))!;
    const [duration, wait] = [2000, 30_000];
    const running = run(console.url, { duration, wait });
    await until(() => partsOf(console.gatekeeper).external.waiting === 1);
    running.kill('SIGSTOP');
    try {
      await held.release();
      await eventually('it was granted', async () => (await holders())[0]?.holder.startsWith('python'));
      const other = await console.gatekeeper.acquire('export', { timeout: '20s', duration: '10s' });
      running.kill('SIGCONT');
      await eventually(
        'it asks again',
        () => partsOf(console.gatekeeper).external.waiting === 1 || running.exitCode !== null,
      );
      // As long as the permit of the answer would have lasted if it were counted from its arrival.
      const deadline = performance.now() + duration;
      await until(() => performance.now() > deadline || hasBegun());
      expect([hasBegun(), other.isHeld]).toEqual([false, true]);
      await other.release();
    } finally {
      running.kill('SIGCONT');
    }
    await eventually('it began', hasBegun);
    expect(Number(await readFile(join(folder, 'began'), 'utf8'))).toBe((await holders())[0]!.token);
    await end();
    expect(await running).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('has what is left of its permit after a long wait', async () => {
    const held = (await console.gatekeeper.tryAcquire('export', { duration: '2500ms' }))!;
    const running = run(console.url, { duration: 1500, wait: 20_000 });
    await until(() => !held.isHeld);
    await eventually('it began', hasBegun);
    await end();
    expect(await running).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

const MAIN = `
import os, sys, time
from permit import Denied, Gatekeeper, PermitLost, Refused

gatekeeper = Gatekeeper(os.environ["GATEKEEPER_URL"], os.environ["GATEKEEPER_TOKEN"])
try:
    with gatekeeper.permit("export", duration=float(sys.argv[1]), wait=float(sys.argv[2])) as permit:
        permit.assert_held()
        with open("began.new", "w") as began:
            began.write(str(permit.token))
        os.rename("began.new", "began")
        while not os.path.exists("end"):
            permit.assert_held()
            time.sleep(0.02)
except (Denied, Refused) as denial:
    sys.exit(print(f"no permit: {denial}", file=sys.stderr) or 75)
except PermitLost as loss:
    sys.exit(print(f"lost: {loss}", file=sys.stderr) or 70)
`;
import { partsOf } from '../../lib/gatekeeper/parts.js';
