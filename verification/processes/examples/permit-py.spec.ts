import { partsOf } from '../../../lib/gatekeeper/parts.js';
import { eventually } from '../../../test/contract/eventually.js';
import { lackOf } from '../../needs/programs.js';
import { describeUnless } from '../../../test/support/unless.js';
import { until } from '../../../test/support/apps.js';
import { cut, useMeddlingProxies } from './meddling-proxy.js';
import { type RunOptions, useRunningPermit } from './running-permit.js';

describeUnless(await lackOf('python3'))('permit.py among faults', () => {
  const current = useRunningPermit();
  const meddling = useMeddlingProxies();
  const run = (options: RunOptions) => current().run('permit.py', options);

  it('keeps its permit when an answer to a refresh is cut in its body, and its release may be cut, too', async () => {
    let cuts = 0;
    const url = await meddling(current().console.url, ({ path }) =>
      (path.endsWith('/refresh') && cuts++ === 0) || path.endsWith('/release') ? cut : undefined,
    );
    const running = run({ duration: 3000, url });
    await current().began();
    const [holder] = await current().holders();
    await eventually('it was refreshed twice', () => cuts > 2);
    expect((await current().holders())[0]!.expiresAt).toBeGreaterThan(holder!.expiresAt);
    await current().end();
    expect(await running).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('asks again while the answer is 503 or cut, and is given the permit that it was granted', async () => {
    const seen: string[] = [];
    const url = await meddling(current().console.url, ({ path, body }) => {
      if (path !== '/api/permits') return undefined;
      seen.push(JSON.parse(body).id);
      if (seen.length === 1) return (_, response) => void response.writeHead(503, { 'retry-after': '0' }).end('{}');
      return seen.length === 2 ? cut : undefined;
    });
    const running = run({ duration: 5000, url });
    await current().began();
    expect(seen).toEqual([seen[0], seen[0], seen[0]]);
    await current().end();
    expect(await running).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await current().holders()).toEqual([]);
  });

  it('says what is wrong with a path that leads elsewhere', async () => {
    const { exitCode, stderr } = await run({
      duration: 5000,
      url: current().console.url.replace('/gatekeeper', '/elsewhere'),
    });
    expect(exitCode).toBe(75);
    expect(stderr).toContain('404');
    expect(stderr).not.toContain('None');
  });

  it('never believes in a permit that ended while its answer lay in the socket', async () => {
    const { console } = current();
    const held = (await console.gatekeeper.tryAcquire('export'))!;
    const [duration, wait] = [4000, 30_000];
    const running = run({ duration, wait });
    await until(() => partsOf(console.gatekeeper).external.waiting === 1);
    running.kill('SIGSTOP');
    try {
      await held.release();
      await eventually(
        'it was granted',
        async () => (await current().holders())[0]?.holder.startsWith('python') ?? false,
      );
      const other = await console.gatekeeper.acquire('export', { timeout: '20s', duration: '10s' });
      running.kill('SIGCONT');
      await eventually(
        'it asks again',
        () => partsOf(console.gatekeeper).external.waiting === 1 || running.exitCode !== null,
      );
      // As long as the permit of the answer would have lasted if it were counted from its arrival.
      const deadline = performance.now() + duration;
      await until(async () => performance.now() > deadline || (await current().token()) !== undefined);
      expect([(await current().token()) !== undefined, other.isHeld]).toEqual([false, true]);
      await other.release();
    } finally {
      running.kill('SIGCONT');
    }
    await current().began();
    expect(await current().token()).toBe((await current().holders())[0]!.token);
    await current().end();
    expect(await running).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('has what is left of its permit after a long wait', async () => {
    const { console } = current();
    const held = (await console.gatekeeper.tryAcquire('export', { duration: '5s' }))!;
    const running = run({ duration: 4000, wait: 20_000 });
    await until(() => !held.isHeld);
    await current().began();
    await current().end();
    expect(await running).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
