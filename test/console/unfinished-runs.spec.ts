import { memory } from 'nestjs-gatekeeper';
import { historyEntrySchema } from '../../lib/operate/activity/history-answers.js';
import { notePast } from '../support/past-of-jobs.js';
import { useConsoles } from './consoles.js';

const DEAD = { group: 'default', acquirer: 'gone', instance: 'dead' };
const AT = Date.now() - 60_000;
const WORK = { semaphore: 'job', job: 'Jobs.work', at: AT, token: 7, slot: 0, until: AT + 10_000 };
const start = { kind: 'start', ...WORK } as const;
const short = {
  kind: 'run',
  semaphore: 'job',
  job: 'Jobs.short',
  node: DEAD,
  at: AT - 1,
  took: 5,
  outcome: 'ok',
} as const;

describe('the history of the API', () => {
  const boot = useConsoles();

  it('tells runs that go on from those that crashed', async () => {
    const store = memory();
    const { get, gatekeeper } = await boot({
      store,
      gatekeeper: { definitions: [{ name: 'job', duration: '10s' }] },
    });
    const entries = [short, { ...start, node: DEAD, run: 1 }, { ...start, node: gatekeeper.node, token: 8, run: 1 }];
    const raw = store.open({ callTimeout: 1000 });
    await raw.journal('runs').append(entries.map((entry) => JSON.stringify(entry)));
    await notePast(raw.records, entries);
    const run = { semaphore: 'job', job: 'Jobs.work', at: AT, slot: 0, run: 1 };
    const expected = [
      { ...run, kind: 'running', node: gatekeeper.node, token: 8 },
      { ...run, kind: 'run', outcome: 'crashed', node: DEAD, token: 7, until: AT + 10_000 },
      short,
    ];
    const { json } = await get('/api/history');
    expect(json.entries).toEqual(expected);
    for (const entry of json.entries) expect(historyEntrySchema.parse(entry)).toEqual(entry);
    expect((await get('/api/semaphores/job')).json).toMatchObject({
      runs: expected,
      semaphore: { lastRun: { outcome: 'crashed', until: AT + 10_000 } },
    });
  });
});
