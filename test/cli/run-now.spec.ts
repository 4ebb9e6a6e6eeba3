import { Injectable } from '@nestjs/common';
import { ClusterSingleton, memory } from 'nestjs-gatekeeper';
import { openOperator } from '../../lib/cli/session/open-operator.js';
import { TOKENS, useConsoles } from '../console/consoles.js';
import { until } from '../support/apps.js';
import { call, commandLine } from './command-line.js';

@Injectable()
class Jobs {
  static readonly ends: (() => void)[] = [];

  @ClusterSingleton('export', '10s')
  async export(): Promise<string | undefined> {
    return 'done';
  }

  @ClusterSingleton('broken', '10s')
  async broken() {
    throw new Error('disk full');
  }

  @ClusterSingleton('slow', '10s')
  slow(): Promise<void> {
    return new Promise((resolve) => Jobs.ends.push(resolve));
  }
}

describe.each(['over HTTP', 'directly'])('gatekeeper run, %s', (way) => {
  // Before the applications are closed, which would wait for these runs.
  afterEach(() => {
    for (const end of Jobs.ends.splice(0)) end();
  });
  const start = useConsoles();

  /** A node with the jobs, and the command line that reaches it. */
  async function cluster() {
    const store = memory();
    const { url, gatekeeper } = await start({
      store,
      gatekeeper: { heartbeat: 100 },
      metadata: { providers: [Jobs] },
    });
    await until(async () => (await gatekeeper.registry.nodes()).some(({ jobs }) => jobs.length === 3));
    const target = ['--url', url, '--token', TOKENS.operate, '--timeout', '5s'];
    const overHttp = (args: readonly string[]) => call([...args, ...target], { open: openOperator });
    return { run: way === 'over HTTP' ? overHttp : commandLine(store), author: way === 'over HTTP' ? 'otto' : 'ann' };
  }

  it('runs the job, waits for its end, and exits with 0', async () => {
    const { run, author } = await cluster();
    const { exitCode, out, err } = await run(['run', 'export', '--reason', 'the first one failed']);
    expect([exitCode, err]).toEqual([0, expect.not.stringContaining('error')]);
    expect(out).toMatch(/^export: "Jobs.export" ended well on app1 after \d+ ms\n$/);
    await until(async () => (await run(['history'])).out.includes(`run by hand, ${author}`));
    const { out: audit } = await run(['audit', 'export']);
    expect(audit).toMatch(new RegExp(` run-now +export +${author} +- +Jobs.export +the first one failed$`, 'm'));
  });

  it('exits with 1 and the error of a run that failed', async () => {
    const { run } = await cluster();
    const { exitCode, out } = await run(['run', 'broken']);
    expect(exitCode).toBe(1);
    expect(out).toMatch(/^broken: "Jobs.broken" failed on app1 after \d+ ms: disk full\n$/);
  });

  it('says with --dry-run what would run and where, and changes nothing', async () => {
    const { run } = await cluster();
    expect(await run(['run', 'slow', '--dry-run'])).toEqual({
      exitCode: 0,
      out: expect.stringMatching(/^would run Jobs\.slow of slow on default\/app1; .+\n$/),
      err: '',
    });
    await run(['run', 'slow', '--no-wait']);
    await until(() => Jobs.ends.length === 1);
    const held = await run(['run', 'slow', '--dry-run', '--job', 'Jobs.slow', '--json']);
    expect(JSON.parse(held.out)).toMatchObject({
      dryRun: true,
      semaphore: 'slow',
      job: 'Jobs.slow',
      nodes: [{ acquirer: 'app1' }],
      holders: ['app1'],
    });
    const asked = async () => JSON.parse((await run(['audit', '--json'])).out).entries.length;
    await until(async () => (await asked()) === 1);
    await run(['run', 'export', '--dry-run']);
    await run(['pause', 'broken']);
    await until(async () => (await asked()) === 2);
    expect(await run(['run', 'broken', '--dry-run'])).toMatchObject({ exitCode: 4, out: '' });
    expect(await run(['run', 'nothing', '--dry-run'])).toMatchObject({ exitCode: 3, out: '' });
  });

  it('does not wait with --no-wait, and no longer than --wait', async () => {
    const { run } = await cluster();
    const asked = await run(['run', 'slow', '--no-wait', '--json']);
    expect(asked.exitCode).toBe(0);
    const { id, state } = JSON.parse(asked.out);
    expect([typeof id, ['asked', 'running'].includes(state)]).toEqual(['string', true]);
    await until(() => Jobs.ends.length === 1);
    Jobs.ends.shift()!();
    await until(async () => (await run(['history'])).out.includes('Jobs.slow'));
    const limited = await run(['run', 'slow', '--wait', '3s', '--json']);
    expect(limited.exitCode).toBe(1);
    expect(JSON.parse(limited.out)).toMatchObject({ state: 'running', job: 'Jobs.slow' });
  });

  it('exits with 4 and the reason when no node may run it, and with 3 for an unknown name', async () => {
    const { run } = await cluster();
    await run(['pause', 'export', '--reason', 'the disk is replaced']);
    const { exitCode, out, err } = await run(['run', 'export']);
    expect([exitCode, out]).toEqual([4, '']);
    expect(err).toContain('the disk is replaced');
    expect((await run(['run', 'nothing'])).exitCode).toBe(3);
    expect((await run(['run', 'broken', '--job', 'Jobs.other'])).err).toContain('"Jobs.other"');
  });
});
