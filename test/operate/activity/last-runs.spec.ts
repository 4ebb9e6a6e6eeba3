import type { HistoryEntry, RunEntry } from 'nestjs-gatekeeper';
import { LastRuns } from '../../../lib/operate/activity/last-runs.js';
import { FakeTime } from '../../support/fake-time.js';

const SECOND = 1000;
const MINUTE = 60_000;
const JOURNAL = 10_000;
const node = { group: 'default', acquirer: 'app1', instance: 'i' };
const run = (job: string, at: number, outcome: RunEntry['outcome'] = 'ok'): RunEntry => ({
  kind: 'run',
  semaphore: 'job',
  job,
  node,
  at,
  outcome,
});

describe('the last runs that are kept between two readings', () => {
  let time: FakeTime;
  let journal: HistoryEntry[];
  let limits: number[];
  let lastRuns: LastRuns;

  beforeEach(() => {
    time = new FakeTime();
    journal = [];
    limits = [];
    lastRuns = new LastRuns(async (limit) => {
      limits.push(limit);
      return journal.slice(-limit);
    }, time);
  });

  const note = (...entries: HistoryEntry[]) => {
    journal = [...journal, ...entries].slice(-JOURNAL);
  };
  const jobsAfter = async (pause: number) => {
    time.freeze(pause);
    return (await lastRuns.get()).map(({ job }) => job);
  };

  it('lack those that left the journal ten minutes later, however often they are read', async () => {
    note(run('gone', 1));
    expect(await jobsAfter(0)).toEqual(['gone']);
    note(...Array.from({ length: JOURNAL }, (_, at) => run('busy', at + 2)));
    for (let read = 0; read < 20; read += 1) await jobsAfter(30 * SECOND);
    expect(lastRuns.known()).toMatchObject([{ job: 'busy' }]);
    expect(limits.filter((limit) => limit === JOURNAL)).toHaveLength(2);
  });

  it('show the end of a crash ten minutes later, if the node lives after all and its start lies far back', async () => {
    note(run('long', 1, 'crashed'), ...Array.from({ length: 2000 }, (_, at) => run('busy', at + 2)));
    expect(await jobsAfter(0)).toEqual(['long', 'busy']);
    const { outcome: _none, kind: _run, ...start } = run('long', 1);
    journal[0] = { ...start, kind: 'running', run: 1 };
    for (let read = 0; read < 20; read += 1) await jobsAfter(30 * SECOND);
    expect(lastRuns.known()).toMatchObject([{ job: 'busy' }]);
    expect(lastRuns.running()).toMatchObject([{ job: 'long' }]);
  });

  it('are no more than the journal can have, the newest', async () => {
    for (let read = 0; read < 12; read += 1) {
      note(...Array.from({ length: 1000 }, (_, index) => run(`job ${read * 1000 + index}`, read * 1000 + index)));
      await jobsAfter(2 * SECOND);
    }
    const times = lastRuns.known().map(({ at }) => at);
    expect([times.length, Math.min(...times), Math.max(...times)]).toEqual([JOURNAL, 2000, 11_999]);
  });

  it('are read in part within a minute, and not at all within a second', async () => {
    await jobsAfter(0);
    await jobsAfter(999);
    await jobsAfter(1);
    await jobsAfter(MINUTE);
    expect(limits).toEqual([JOURNAL, 1000, JOURNAL]);
  });
});
