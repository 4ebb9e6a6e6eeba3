import { hazelcast } from 'nestjs-gatekeeper';
import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { openOperator } from '../../../lib/cli/session/open-operator.js';
import { call } from '../../../test/cli/command-line.js';
import { TOKENS, useConsoles } from '../../../test/console/consoles.js';
import { eventually } from '../../../test/contract/eventually.js';

/** Within so many ms of the loss everything that is asked must say so. */
const WITHIN = 10_000;

describe('an application on real members', () => {
  const start = useConsoles();
  const clusters: HazelcastCluster[] = [];
  afterEach(() => Promise.all(clusters.splice(0).map((cluster) => cluster.stop())));

  const startOn = async (members: number, quorum: number) => {
    const cluster = await startHazelcast({ members });
    clusters.push(cluster);
    const { clusterName, addresses } = cluster;
    const app = await start({
      store: hazelcast({ clusterName, members: addresses, quorum }),
      gatekeeper: { definitions: [{ name: 'report', duration: '90s' }], clockTolerance: 500 },
    });
    await eventually('the node is well and listed', async () => {
      const { nodes } = (await app.get('/api/nodes')).json;
      return nodes.length === 1 && (await app.get('/api/health')).json.grants;
    });
    await app.get('/api/semaphores');
    const run = (...args: string[]) =>
      call([...args, '--url', app.url, '--token', TOKENS.define], { open: openOperator });
    return { ...app, cluster, run };
  };

  /** @param reason of the denial that `explain` tells */
  const expectOutage = async (
    { get, send, run }: Awaited<ReturnType<typeof startOn>>,
    lostAt: number,
    { code, reason, stale }: { code: string; reason: string; stale: boolean },
  ) => {
    const health = await eventually(
      'health says that nothing is granted',
      async () => {
        const { status, json } = await get('/api/health');
        return status === 503 && json;
      },
      WITHIN,
    );
    expect(health).toMatchObject({ status: 'down', grants: false, faults: [{ code }] });
    const [explanation, list, paused, told, shown, explained, pausing] = await Promise.all([
      get('/api/explain/report'),
      get('/api/semaphores'),
      send('POST', '/api/pause', { names: 'report' }),
      run('health'),
      run('status'),
      run('explain', 'report'),
      run('pause', 'report'),
    ]);
    expect(performance.now() - lostAt).toBeLessThan(WITHIN);
    expect(explanation.json).toMatchObject({ outcome: 'denied', reason });
    expect(list.json.semaphores).toMatchObject([{ name: 'report' }]);
    for (const answer of [health, explanation.json, list.json]) {
      expect(answer.stale?.[0]?.part).toBe(stale ? 'records' : undefined);
    }
    expect([paused.status, paused.json.code]).toEqual([503, reason]);
    expect(told).toMatchObject({
      exitCode: 6,
      out: expect.stringMatching(new RegExp(`^health +down\\b[^]*^${code} `, 'm')),
    });
    expect(shown).toMatchObject({ exitCode: 6, out: expect.stringMatching(/^NOTHING .*\nNAME .*\nreport /) });
    expect(explained).toMatchObject({ exitCode: 6, out: expect.stringMatching(/^report: ./) });
    expect(pausing).toMatchObject({ exitCode: 6, out: '' });
    console.log(`${code}: said by all after ${Math.round(performance.now() - lostAt)} ms`);
  };

  it('whose only member is killed: all that is asked says so within 10 s, and is well again when it is back', async () => {
    const app = await startOn(1, 1);
    expect(await app.run('health')).toMatchObject({ exitCode: 0 });
    const lostAt = performance.now();
    await app.cluster.members[0]!.kill();
    await expectOutage(app, lostAt, { code: 'store-unreachable', reason: 'unavailable', stale: true });
    await app.cluster.members[0]!.start();
    await eventually('permits are granted again', async () => (await app.get('/api/health')).json.grants);
    expect((await app.get('/api/semaphores')).json).not.toHaveProperty('stale');
  });

  it('that loses its quorum with one of two members: all that is asked says so within 10 s', async () => {
    const app = await startOn(2, 2);
    const lostAt = performance.now();
    await app.cluster.members[1]!.kill();
    await expectOutage(app, lostAt, { code: 'no-quorum', reason: 'no-quorum', stale: false });
  });

  it('whose only member is frozen: health, explain and the list say so within 10 s', async () => {
    const { cluster, get } = await startOn(1, 1);
    const lostAt = performance.now();
    await cluster.members[0]!.pause();
    const [health, explanation, list] = await Promise.all([
      eventually('health is down', async () => {
        const { status, json } = await get('/api/health');
        return status === 503 && json;
      }),
      get('/api/explain/report'),
      get('/api/semaphores'),
    ]);
    expect(performance.now() - lostAt).toBeLessThan(WITHIN);
    expect(health.faults).toMatchObject([{ code: 'store-silent' }]);
    expect(explanation.json).toMatchObject({ outcome: 'denied', reason: 'unavailable', stale: [{ part: 'records' }] });
    expect(list.json.stale.length).toBeGreaterThan(0);
    cluster.members[0]!.resume();
  });
});
