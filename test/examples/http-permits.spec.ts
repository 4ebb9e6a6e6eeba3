import { fileURLToPath } from 'node:url';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { execa } from 'execa';
import { type Console, TOKENS, useConsoles } from '../console/consoles.js';
import { eventually } from '../contract/eventually.js';
import { lackOf } from '../needs/programs.js';
import { describeUnless } from '../needs/unless.js';
import { useMeddlingProxies } from './meddling-proxy.js';

const EXAMPLES = fileURLToPath(new URL('../../examples/http/', import.meta.url));
const DURATION = 4500;

describeUnless(await lackOf('bash', 'curl', 'python3')).each(['permit.sh', 'permit.py'])('%s', (script) => {
  const start = useConsoles();
  const meddling = useMeddlingProxies();
  let console: Console;
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'permits-'));
    const gatekeeper = { definitions: [{ name: 'export', duration: '10s' }], clockTolerance: 100 };
    console = await start({ gatekeeper });
    await writeFile(join(folder, 'main.py'), MAIN);
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Runs it under a permit until the test makes the file `end`. */
  const run = (token: string = TOKENS.operate, duration = DURATION, url = console.url) => {
    const env = {
      GATEKEEPER_URL: url,
      GATEKEEPER_TOKEN: token,
      PYTHONPATH: EXAMPLES,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const options = { cwd: folder, env, reject: false } as const;
    return script === 'permit.sh'
      ? execa(options)(join(EXAMPLES, script), ['export', String(duration), 'bash', '-c', WORK])
      : execa(options)('python3', ['main.py', String(duration)]);
  };
  const end = () => writeFile(join(folder, 'end'), '');
  const token = async () => Number(await readFile(join(folder, 'began'), 'utf8'));
  const began = () => eventually('it began', async () => (await token()) > 0);
  const holders = async () => {
    const { semaphores } = await console.gatekeeper.state();
    return semaphores.find(({ name }) => name === 'export')!.holders;
  };

  it('works under a permit, with its token, keeps it for longer than it lasts, and gives it back', async () => {
    const running = run();
    await began();
    const [holder] = await holders();
    expect(holder).toMatchObject({ token: await token(), slot: 0 });
    const until = holder!.expiresAt + DURATION;
    await eventually('it was refreshed', async () => ((await holders())[0]?.expiresAt ?? 0) > until);
    expect(await console.gatekeeper.run('export', () => 1)).toEqual({ executed: false, reason: 'no-permit' });
    await end();
    expect(await running).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await holders()).toEqual([]);
  });

  it('does not work while somebody else has the permit, and says so', async () => {
    await using _permit = await console.gatekeeper.tryAcquire('export');
    expect(await run()).toMatchObject({ exitCode: 75, stderr: expect.stringContaining('no permit') });
    await expect(token()).rejects.toThrow('ENOENT');
  });

  it('goes on when it is refused a refresh for a moment: the permit lasts until its end all the same', async () => {
    const { external } = partsOf(console.gatekeeper);
    const refresh = external.refresh.bind(external);
    let denials = 0;
    external.refresh = async (permit, options) => {
      if (denials++ === 0) return { outcome: 'denied', reason: 'recovering', holders: [] };
      return refresh(permit, options);
    };
    const running = run(TOKENS.define, 3 * DURATION);
    await began();
    const [holder] = await holders();
    await eventually('it was refreshed', async () => (await holders())[0]!.expiresAt > holder!.expiresAt);
    expect(denials).toBeGreaterThan(1);
    await end();
    expect(await running).toMatchObject({ exitCode: 0, stderr: expect.not.stringMatching(/lost|Traceback/) });
  });

  it('stops working when the permit is taken from it', async () => {
    const running = run();
    await began();
    const [holder] = await holders();
    await console.gatekeeper.definitions.revoke('export', holder!.id);
    expect(await running).toMatchObject({ exitCode: 70 });
  });

  it('stops working before anybody else can have the permit when nobody answers any more', async () => {
    const running = run();
    await began();
    await console.app.close();
    const closedAt = performance.now();
    expect(await running).toMatchObject({ exitCode: 70 });
    expect(performance.now() - closedAt).toBeLessThan(DURATION);
  });

  it('counts from when it asked: it begins no work by an answer that came too late, and asks again', async () => {
    let answers = 0;
    const url = await meddling(console.url, ({ path }) => {
      if (path !== '/api/permits') return undefined;
      if (answers++ > 0) return undefined;
      return ({ status, body }, response) =>
        void setTimeout(() => response.writeHead(status, { 'content-type': 'application/json' }).end(body), DURATION);
    });
    const running = run(TOKENS.operate, DURATION, url);
    await began();
    expect(answers).toBe(2);
    await end();
    expect(await running).toMatchObject({ exitCode: 0 });
  });

  it('does not work with a token that may only look, and tells no token', async () => {
    const { exitCode, stderr } = await run(TOKENS.view);
    expect(exitCode).toBe(75);
    expect(stderr).toContain('role-too-low');
    expect(stderr).not.toContain(TOKENS.view);
  });
});

const WORK = 'echo $PERMIT_TOKEN > began; while [ ! -e end ]; do sleep 0.02; done';

const MAIN = `
import os, sys, time
from permit import Denied, Gatekeeper, PermitLost, Refused

gatekeeper = Gatekeeper(os.environ["GATEKEEPER_URL"], os.environ["GATEKEEPER_TOKEN"])
try:
    with gatekeeper.permit("export", duration=int(sys.argv[1]) / 1000) as permit:
        with open("began", "w") as began:
            began.write(str(permit.token))
        while not os.path.exists("end"):
            permit.assert_held()
            time.sleep(0.02)
except (Denied, Refused) as denial:
    sys.exit(print(f"no permit: {denial}", file=sys.stderr) or 75)
except PermitLost:
    sys.exit(70)
`;
import { partsOf } from '../../lib/gatekeeper/parts.js';
