import { OPERATIONS, type Sent } from '../../lib/cli/operator/operator.js';
import { eventually } from '../contract/eventually.js';
import { type Opening, answering, over } from './command-line.js';
import { useMemoryCluster } from './memory-cluster.js';

const failure = () => Promise.reject(new Error('disk full'));

describe('the runs on the command line', () => {
  const cluster = useMemoryCluster();

  /** Two jobs with some runs, in a cluster whose nodes have closed. */
  async function past() {
    const { node, gatekeeper, store } = cluster();
    const app = await node();
    for (let run = 0; run < 9; run++) await app.run('report', () => 'done', { job: 'Jobs.report', atLeastFor: 0 });
    await app.run('report', failure, { job: 'Jobs.report', atLeastFor: 0 }).catch(() => undefined);
    await app.run('nightly-export', () => 'done', { job: 'Jobs.export', atLeastFor: 0 });
    await app.close();
    return { gatekeeper, store, node };
  }

  it('are filtered by kind, time and name', async () => {
    const { gatekeeper } = await past();
    const json = async (...args: string[]) =>
      JSON.parse((await gatekeeper(['history', '--json', ...args])).out).entries;
    expect(await json('--failed', '--since', '1d')).toMatchObject([{ semaphore: 'report', message: 'disk full' }]);
    expect(await json('--failed', '--until', '1h')).toEqual([]);
    expect(await json('--by', 'nightly-export')).toHaveLength(1);
    expect(await json('--by', 'app1', '--show', 'ok')).toHaveLength(10);
    expect(await json('--by', 'app2')).toEqual([]);
    expect(await json('report', '--job', 'Jobs.report', '--node', 'production/app1', '--limit', '3')).toHaveLength(3);
    expect((await gatekeeper(['history', '--failed'])).out).toMatch(/report .* failed .* disk full/);
    const { exitCode, err } = await gatekeeper(['history', '--since', 'yesterday']);
    expect([exitCode, err]).toEqual([2, expect.stringContaining('a time before now such as "1d"')]);
  });

  it('are summed up per job', async () => {
    const { gatekeeper } = await past();
    const { out } = await gatekeeper(['runs']);
    const [head, one, other, ...more] = out.trimEnd().split('\n');
    expect(head).toMatch(/^SEMAPHORE +JOB +STATE +LAST RUN +TOOK +LAST DAY +LAST 7 DAYS +LAST FAILURE$/);
    expect(one).toMatch(/^nightly-export +Jobs\.export +ok .*1 of 1 ok \(100 %\), p50 \d+ ms, p95 \d+ ms .* -$/);
    expect(other).toMatch(/^report +Jobs\.report +failed .*9 of 10 ok \(90 %\), p50 .* failed: disk full$/);
    expect(more).toEqual([]);
    expect((await gatekeeper(['runs', 'Jobs.report'])).out).not.toContain('nightly-export');
    expect((await gatekeeper(['runs', 'nothing'])).out).toBe('no runs\n');
    expect(JSON.parse((await gatekeeper(['runs', 'report', '--json'])).out)).toMatchObject({
      jobs: [{ semaphore: 'report', state: 'failed', day: { ok: 9, failed: 1, rate: 0.9 } }],
    });
  });

  it('are followed until an interruption', async () => {
    const { gatekeeper, node } = await past();
    const app = await node();
    const ending = new AbortController();
    let out = '';
    const following = gatekeeper(['history', 'report', '--failed', '--follow', '--json'], {
      signal: ending.signal,
      onOut: (text) => (out += text),
    });
    await eventually('the first failure is printed', () => Promise.resolve(out.split('\n').length === 2));
    await app.run('report', () => 'done', { job: 'Jobs.report', atLeastFor: 0 });
    await app.run('report', () => Promise.reject(new Error('again')), { atLeastFor: 0 }).catch(() => undefined);
    await eventually('the second failure is printed', () => Promise.resolve(out.includes('again')));
    ending.abort();
    expect((await following).exitCode).toBe(0);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).message);
    expect(lines).toEqual(['disk full', 'again']);
  });

  it('are followed to their end, also if they began before all that is shown at first', async () => {
    const { store, gatekeeper } = cluster();
    const run = { semaphore: 'report', job: 'J', kind: 'run', outcome: 'failed' } as const;
    const node = { group: 'production', acquirer: 'app1', instance: 'one' };
    const shown = { ...run, node, at: 3000, took: 5, message: 'shown' };
    const older = { ...run, node, at: 1000, took: 5, message: 'older' };
    const long = { ...run, node, at: 2000, took: 9000, message: 'long' };
    const ending = new AbortController();
    let looks = 0;
    const history = ({ query }: Sent) => {
      if (++looks === 3) ending.abort();
      const entries = [shown, ...(looks > 1 ? [long] : []), older].slice(0, Number(query?.['limit']));
      return Promise.resolve({ entries });
    };
    const open: Opening = async (...to) => answering(await over(store)(...to), OPERATIONS.history, history);

    const { out } = await gatekeeper(['history', '--follow', '--limit', '1', '--json'], {
      open,
      signal: ending.signal,
    });

    const lines = out.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(['shown', 'long']);
  });
});
