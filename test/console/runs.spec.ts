import { memory } from 'nestjs-gatekeeper';
import { csvLine } from '../../lib/console/api/runs-csv.js';
import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { PLATFORMS, SETTINGS, useConsoles } from './consoles.js';

const HOUR = 3_600_000;
const LIMITED = 'token-of-lisa-0123456789';
const node = (acquirer: string) => ({ group: 'production', acquirer, instance: `${acquirer}-1` });

/** Runs of two jobs in the last day, and one failure of long ago. */
function entriesAt(now: number): object[] {
  const run = { kind: 'run', semaphore: 'export', job: 'Jobs.export', node: node('app1'), took: 10, outcome: 'ok' };
  const failed = { ...run, outcome: 'failed', message: '=1+1' };
  const mail = { ...run, semaphore: 'mail', job: 'Jobs.mail', node: node('app2') };
  return [
    { ...failed, at: now - 48 * HOUR, message: 'of long ago' },
    { ...run, at: now - 5 * HOUR },
    { ...failed, at: now - 4 * HOUR },
    { ...mail, at: now - 3 * HOUR, outcome: 'lost', token: 7, slot: 0 },
    { ...mail, at: now - 2 * HOUR },
    { kind: 'skip', semaphore: 'mail', job: 'Jobs.mail', node: node('app1'), at: now - HOUR, reason: 'paused' },
  ];
}

describe.each(PLATFORMS)('the runs of the API on %s', (platform) => {
  const start = useConsoles();

  async function boot() {
    const store = memory();
    const tokens = [...SETTINGS.tokens!, { token: LIMITED, name: 'lisa', role: 'view', names: 'mail' } as const];
    const started = await start({
      platform,
      store,
      console: { tokens },
      gatekeeper: { definitions: [{ name: 'export', duration: '10s' }] },
    });
    const now = Date.now();
    const texts = entriesAt(now).map((entry) => JSON.stringify(entry));
    await store.open({ callTimeout: 1000 }).journal('runs').append(texts);
    return { ...started, now };
  }

  it('are found by kind, time, semaphore, job and node, the newest first', async () => {
    const { get, now } = await boot();
    const found = async (query: string) => {
      const { json } = await get(`/api/history?${query}`);
      return json.entries.map(({ at }: { at: number }) => (now - at) / HOUR);
    };
    expect(await found('show=failed&since=1d')).toEqual([3, 4]);
    expect(await found(`show=failed&since=${now - 72 * HOUR}&limit=2`)).toEqual([3, 4]);
    expect(await found('show=failed')).toEqual([3, 4, 48]);
    expect(await found(`until=${encodeURIComponent(new Date(now - 4 * HOUR).toISOString())}`)).toEqual([4, 5, 48]);
    expect(await found('show=lost')).toEqual([3]);
    expect(await found('show=skipped')).toEqual([1]);
    expect(await found('show=ok&semaphore=export')).toEqual([5]);
    expect(await found('job=Jobs.mail&node=app2')).toEqual([2, 3]);
    expect(await found('by=production/app1&since=6h')).toEqual([1, 4, 5]);
    expect(await found('by=mail&show=ok')).toEqual([2]);
    expect(await found('show=running')).toEqual([]);
  });

  it('are refused to a query that makes no sense', async () => {
    const { get } = await boot();
    for (const query of ['show=bad', 'since=yesterday', 'until=2026-99-99', 'format=xml', 'nodes=x', 'limit=10001'])
      expectProblem(await get(`/api/history?${query}`), 400, 'invalid-options');
  });

  it.each([
    ['format=csv', {}],
    ['', { accept: 'text/csv' }],
  ])('are CSV for "%s" and %j, in which no cell is a formula', async (query, headers) => {
    const { get, now } = await boot();
    const { status, headers: answered, text } = await get(`/api/history?show=failed&since=1d&${query}`, { headers });
    expect(status).toBe(200);
    expect(answered.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answered.get('content-disposition')).toBe('attachment; filename="runs.csv"');
    const at = (hours: number) => new Date(now - hours * HOUR).toISOString();
    expect(text.split('\r\n')).toEqual([
      '"at","semaphore","job","group","acquirer","instance","outcome","took_ms","token","slot","detail"',
      `"${at(3)}","mail","Jobs.mail","production","app2","app2-1","lost",10,7,0,`,
      `"${at(4)}","export","Jobs.export","production","app1","app1-1","failed",10,,,"'=1+1"`,
      '',
    ]);
  });

  it('are JSON for a browser, which accepts everything', async () => {
    const { get } = await boot();
    const { headers } = await get('/api/history', {
      headers: { accept: 'text/html, text/csv;q=0.5, application/json' },
    });
    expect(headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('show the past of each job, with the stack of its failures only in the details', async () => {
    const { get, gatekeeper } = await boot();
    const fail = () =>
      gatekeeper.run('export', () => Promise.reject(new Error('disk full')), { job: 'Jobs.export', atLeastFor: 0 });
    await expect(fail()).rejects.toThrow('disk full');
    await gatekeeper.run('export', () => undefined, { job: 'Jobs.export', atLeastFor: 0 });
    expect((await get('/api/jobs')).json).toEqual({ jobs: [] });
    const jobs = async () => (await get('/api/jobs')).json.jobs;
    await until(async () => (await jobs()).length > 0);
    const [job] = await jobs();
    expect(job).toMatchObject({
      semaphore: 'export',
      job: 'Jobs.export',
      state: 'ok',
      lastRun: { outcome: 'ok' },
      lastFailure: { outcome: 'failed', message: 'disk full' },
      day: { ok: 1, failed: 1, rate: 0.5 },
      week: { ok: 1, failed: 1 },
    });
    expect(JSON.stringify(job)).not.toContain('stack');
    const details = (await get('/api/semaphores/export/jobs')).json.jobs;
    expect(details).toMatchObject([{ failures: [{ message: 'disk full', stack: expect.stringContaining('Error') }] }]);
    expect((await get('/api/semaphores/mail/jobs')).json).toEqual({ jobs: [] });
    expect((await get('/api/jobs', { token: LIMITED })).json).toEqual({ jobs: [] });
  });

  it('of other names are hidden from a token for some', async () => {
    const { get } = await boot();
    const { json } = await get('/api/history?since=6h', { token: LIMITED });
    expect(new Set(json.entries.map(({ semaphore }: { semaphore: string }) => semaphore))).toEqual(new Set(['mail']));
    const { text } = await get('/api/history?format=csv', { token: LIMITED });
    expect(text).not.toContain('export');
  });
});

describe('a cell of CSV', () => {
  it.each<[string, string]>([
    ['=HYPERLINK("http://x")', `"'=HYPERLINK(""http://x"")"`],
    ['+1', `"'+1"`],
    ['-1', `"'-1"`],
    ['@SUM(A1)', `"'@SUM(A1)"`],
    ['\t=1', `"'\t'=1"`],
    [' =1', `"' =1"`],
    ['|cmd', `"'|cmd"`],
    ['a "b", c\nd', '"a ""b"", c\nd"'],
    ['1-2', '"1-2"'],
    ['x;=1+1', `"x;'=1+1"`],
    ['x; =1', `"x;' =1"`],
    ['x;"=1', `"x;'""=1"`],
    ['a;b', '"a;b"'],
    ['x\t@SUM(A1)', `"x\t'@SUM(A1)"`],
    ['x|+1', `"x|'+1"`],
    ['x\r\n-1', `"x\r'\n'-1"`],
    ['\u200b=1', `"'\u200b=1"`],
    ['\uff1d1', `"'\uff1d1"`],
    ['x;\uff0b1', `"x;'\uff0b1"`],
  ])('with %j is never a formula', (text, cell) => {
    expect(csvLine([text, 7, undefined])).toBe(`${cell},7,\r\n`);
  });

  it.each([';', '\t', '|'])('is no formula for a program that divides at %j', (separator) => {
    const texts = [
      '=1',
      `x${separator}=1`,
      `x${separator}"=1`,
      `a" ${separator} "+1`,
      `${separator}${separator}@x`,
      'a\n=1',
    ];
    for (const text of texts) {
      const cells = csvLine(['name', text]).split(new RegExp(`[${separator}\r\n]`, 'u'));
      for (const cell of cells) expect(cell).not.toMatch(/^[\s"]*[=+@-]/u);
    }
  });
});
