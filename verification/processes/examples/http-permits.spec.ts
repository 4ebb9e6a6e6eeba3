import { partsOf } from '../../../lib/gatekeeper/parts.js';
import { TOKENS } from '../../../test/console/consoles.js';
import { eventually } from '../../../test/contract/eventually.js';
import { lackOf } from '../../needs/programs.js';
import { describeUnless } from '../../../test/support/unless.js';
import { useMeddlingProxies } from './meddling-proxy.js';
import { type RunOptions, type Script, useRunningPermit } from './running-permit.js';

const DURATION = 4500;
const SCRIPTS: Script[] = ['permit.sh', 'permit.py'];

describeUnless(await lackOf('bash', 'curl', 'python3')).each(SCRIPTS)('%s', (script) => {
  const current = useRunningPermit();
  const meddling = useMeddlingProxies();
  const run = (options: Partial<RunOptions> = {}) =>
    current().run(script, { duration: DURATION, token: TOKENS.operate, ...options });

  it('works under a permit, with its token, keeps it for longer than it lasts, and gives it back', async () => {
    const { console } = current();
    const running = run();
    await current().began();
    const [holder] = await current().holders();
    expect(holder).toMatchObject({ token: await current().token(), slot: 0 });
    const until = holder!.expiresAt + DURATION;
    await eventually('it was refreshed', async () => ((await current().holders())[0]?.expiresAt ?? 0) > until);
    expect(await console.gatekeeper.run('export', () => 1)).toEqual({ executed: false, reason: 'no-permit' });
    await current().end();
    expect(await running).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await current().holders()).toEqual([]);
  });

  it('does not work while another holder has the permit, and says so', async () => {
    const { console } = current();
    await using _permit = await console.gatekeeper.tryAcquire('export');
    expect(await run()).toMatchObject({ exitCode: 75, stderr: expect.stringContaining('no permit') });
    expect(await current().token()).toBeUndefined();
  });

  it('goes on when it is refused a refresh for a moment: the permit lasts until its end all the same', async () => {
    const { console } = current();
    const { external } = partsOf(console.gatekeeper);
    const refresh = external.refresh.bind(external);
    let denials = 0;
    external.refresh = async (permit, options) => {
      if (denials++ === 0) return { outcome: 'denied', reason: 'recovering', holders: [] };
      return refresh(permit, options);
    };
    const running = run({ token: TOKENS.define, duration: 3 * DURATION });
    await current().began();
    const [holder] = await current().holders();
    await eventually('it was refreshed', async () => (await current().holders())[0]!.expiresAt > holder!.expiresAt);
    expect(denials).toBeGreaterThan(1);
    await current().end();
    expect(await running).toMatchObject({ exitCode: 0, stderr: expect.not.stringMatching(/lost|Traceback/) });
  });

  it('stops working when the permit is taken from it', async () => {
    const { console } = current();
    const running = run();
    await current().began();
    const [holder] = await current().holders();
    await console.gatekeeper.definitions.revoke('export', holder!.id);
    expect(await running).toMatchObject({ exitCode: 70 });
  });

  it('stops working before another holder can have the permit when no node answers any more', async () => {
    const { console } = current();
    const running = run();
    await current().began();
    await console.app.close();
    const closedAt = Date.now();
    expect(await running).toMatchObject({ exitCode: 70 });
    // Not the time of its exit: that takes long on a busy machine, and is no work.
    expect((await current().lastWorked()) - closedAt).toBeLessThan(DURATION);
  });

  it('counts from when it asked: it begins no work by an answer that came too late, and asks again', async () => {
    let answers = 0;
    const url = await meddling(current().console.url, ({ path }) => {
      if (path !== '/api/permits') return undefined;
      if (answers++ > 0) return undefined;
      return ({ status, body }, response) =>
        void setTimeout(() => response.writeHead(status, { 'content-type': 'application/json' }).end(body), DURATION);
    });
    const running = run({ url });
    await current().began();
    expect(answers).toBe(2);
    await current().end();
    expect(await running).toMatchObject({ exitCode: 0 });
  });

  it('does not work with a token that may only look, and prints no token', async () => {
    const { exitCode, stderr } = await run({ token: TOKENS.view });
    expect(exitCode).toBe(75);
    expect(stderr).toContain('role-too-low');
    expect(stderr).not.toContain(TOKENS.view);
  });
});
