import { Injectable } from '@nestjs/common';
import { ClusterSingleton, type StoreDefinition, StoreUnavailableError, memory } from 'nestjs-gatekeeper';
import { until } from '../support/apps.js';
import { ScriptedStore } from '../support/scripted-store.js';
import { expectProblem } from './api.contract.js';
import { type Console, PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';

@Injectable()
class Jobs {
  exports = 0;
  readonly ends: (() => void)[] = [];

  @ClusterSingleton('export', '10s', { atLeastFor: 0 })
  async export(): Promise<string | undefined> {
    this.exports++;
    return 'done';
  }

  @ClusterSingleton('slow', '10s')
  slow(): Promise<void> {
    return new Promise((resolve) => this.ends.push(resolve));
  }

  @ClusterSingleton('import', '10s')
  async import(tenant: string): Promise<string | undefined> {
    return tenant;
  }
}

/** A store that answers nothing more once a run was asked for, until `giveBack`. */
function lostOnceAsked(inner: StoreDefinition) {
  const opened: ScriptedStore[] = [];
  let isAway = false;
  const script: ScriptedStore['script'] = async (call, go, key = '') => {
    if (isAway) throw new StoreUnavailableError('away');
    const answer = await go();
    isAway = call === 'compareAndSet' && key.startsWith('run-request:');
    return answer;
  };
  const open: StoreDefinition['open'] = (options) => {
    const store = Object.assign(new ScriptedStore(inner.open(options)), { script });
    opened.push(store);
    return store;
  };
  const giveBack = () => {
    for (const store of opened) store.script = undefined;
  };
  return { definition: { ...inner, open }, giveBack };
}

const PATH = '/api/semaphores/export/run';
const REASON = { reason: 'the first one failed' };

describe.each(PLATFORMS)('run now over the API on %s', (platform) => {
  const start = useConsoles();

  /** app1 has the jobs; app2 has only a console. */
  async function two(seen: (inner: StoreDefinition) => StoreDefinition = (inner) => inner) {
    const inner = memory();
    const node = (acquirer: string, store: StoreDefinition, providers: (typeof Jobs)[]) =>
      start({ platform, store, gatekeeper: { acquirer, heartbeat: 100 }, metadata: { providers } });
    const worker = await node('app1', inner, [Jobs]);
    const outsider = await node('app2', seen(inner), []);
    await until(async () => (await plan(outsider, 'export')).jobs.length === 1);
    return { worker, outsider };
  }

  const plan = async ({ get }: Console, name: string) => {
    const { status, json } = await get(`/api/semaphores/${name}/run`);
    return status === 200 ? json : { jobs: [] };
  };

  it('runs the job through a node that does not have it, and tells its end', async () => {
    const { outsider } = await two();
    const asked = await outsider.send('POST', PATH, { ...REASON, wait: '10s' }, { token: TOKENS.operate });
    expect(asked.status).toBe(200);
    expect(asked.json).toMatchObject({
      semaphore: 'export',
      job: 'Jobs.export',
      by: 'otto',
      ...REASON,
      state: 'ended',
      outcome: 'ok',
      node: { acquirer: 'app1' },
    });
    const again = await outsider.get(`${PATH}/${asked.json.id}`, { token: TOKENS.view });
    expect(again.json).toEqual(asked.json);
    expect((await plan(outsider, 'export')).requests).toEqual([asked.json]);
    await until(async () => (await outsider.get('/api/audit')).json.entries.length === 1);
    const { entries } = (await outsider.get('/api/audit')).json;
    expect(entries).toMatchObject([{ action: 'run-now', semaphore: 'export', job: 'Jobs.export', by: 'otto' }]);
  });

  it('answers before the end without wait, and later with it', async () => {
    const { worker, outsider } = await two();
    const asked = await outsider.send('POST', '/api/semaphores/slow/run', {});
    expect(['asked', 'running']).toContain(asked.json.state);
    const path = `/api/semaphores/slow/run/${asked.json.id}`;
    await until(async () => (await outsider.get(path)).json.state === 'running');
    const following = outsider.get(`${path}?wait=30s`);
    worker.app.get(Jobs).ends[0]!();
    expect((await following).json).toMatchObject({ state: 'ended', outcome: 'ok' });
  });

  it('answers that it was asked for if the store is lost after that, since a second call would run it twice', async () => {
    let giveBack = () => {};
    const { worker, outsider } = await two((inner) => {
      const lost = lostOnceAsked(inner);
      giveBack = lost.giveBack;
      return lost.definition;
    });
    const asked = await outsider.send('POST', PATH, { ...REASON, wait: '5s' });
    expect(asked.json).toMatchObject({ state: 'asked', by: 'dora', sentence: expect.stringContaining('away') });
    expect(asked.status).toBe(200);
    giveBack();
    const ended = await outsider.get(`${PATH}/${asked.json.id}?wait=10s`);
    expect(ended.json).toMatchObject({ state: 'ended', outcome: 'ok' });
    expect(worker.app.get(Jobs).exports).toBe(1);
  });

  it('asks for nothing if too many requests of its token wait', async () => {
    const { worker, outsider } = await two();
    const slow = await outsider.send('POST', '/api/semaphores/slow/run', {});
    const ending = new AbortController();
    const waits = Array.from({ length: 100 }, () =>
      outsider.get(`/api/semaphores/slow/run/${slow.json.id}?wait=30s`, { signal: ending.signal }),
    );
    const waiting = Promise.allSettled(waits);
    try {
      await until(async () => {
        const look = await outsider.get(`/api/semaphores/slow/run/${slow.json.id}?wait=1`);
        return look.status === 429;
      });
      expectProblem(await outsider.send('POST', PATH, { wait: '5s' }), 429, 'too-many-waits');
      expect((await plan(outsider, 'export')).requests).toEqual([]);
    } finally {
      ending.abort();
      await waiting;
      for (const end of worker.app.get(Jobs).ends) end();
    }
  });

  it('says which nodes could run it, and why it can not be run', async () => {
    const { outsider } = await two();
    expect((await plan(outsider, 'export')).jobs).toEqual([
      { job: 'Jobs.export', nodes: [expect.objectContaining({ acquirer: 'app1' })] },
    ]);
    expect((await plan(outsider, 'import')).jobs).toMatchObject([
      { job: 'Jobs.import', nodes: [], obstacle: expect.stringContaining('with arguments') },
    ]);
    expectProblem(await outsider.send('POST', '/api/semaphores/import/run', {}), 409, 'cannot-run');
    await outsider.gatekeeper.definitions.pause('export', { by: 'bob' });
    const refused = await outsider.send('POST', PATH, {});
    expectProblem(refused, 409, 'cannot-run');
    expect(refused.json.detail).toContain('bob has paused it');
  });

  it('refuses the role view, unknown names, other fields, and long waits', async () => {
    const { outsider } = await two();
    expectProblem(await outsider.send('POST', PATH, {}, { token: TOKENS.view }), 403, 'role-too-low');
    expectProblem(await outsider.send('POST', '/api/semaphores/nothing/run', {}), 404, 'unknown-semaphore');
    expectProblem(await outsider.get(`${PATH}/none`), 404, 'unknown-run');
    expectProblem(await outsider.get('/api/semaphores/leader:x/run'), 400, 'reserved-name');
    expectProblem(await outsider.send('POST', PATH, { wait: '31s' }), 400, 'invalid-options');
    expectProblem(await outsider.send('POST', PATH, { jobs: 'x' }), 400, 'invalid-options');
    expectProblem(await outsider.send('POST', PATH, { reason: 'x'.repeat(1001) }), 400, 'invalid-options');
  });

  it('runs nothing for a limited token, or for a console that is read only', async () => {
    const token = 'token-of-lina-0123456789';
    const tokens = [{ token, name: 'lina', role: 'operate' as const, names: 'other' }];
    const limited = await start({ platform, console: { ...SETTINGS, tokens }, metadata: { providers: [Jobs] } });
    expectProblem(await limited.send('POST', PATH, {}, { token }), 403, 'token-limited');
    const closed = await start({ platform, console: { ...SETTINGS, readOnly: true }, metadata: { providers: [Jobs] } });
    expectProblem(await closed.send('POST', PATH, {}), 403, 'read-only');
  });
});
