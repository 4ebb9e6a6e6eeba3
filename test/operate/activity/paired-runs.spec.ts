import type { StartEntry, StoredRunEntry } from '../../../lib/operate/activity/entry-schemas.js';
import { openStarts, paired } from '../../../lib/operate/activity/jobs/paired-runs.js';

const NODE = { group: 'default', acquirer: 'app1', instance: 'dead' };
const base = { semaphore: 'job', job: 'Jobs.work', node: NODE, at: 1000, token: 7, slot: 0 };
const start: StartEntry = { ...base, kind: 'start', run: 1 };
const end: StoredRunEntry = { ...base, kind: 'run', run: 1, took: 5000, outcome: 'ok' };
const skip: StoredRunEntry = { kind: 'skip', semaphore: 'job', job: 'Jobs.work', node: NODE, at: 2, reason: 'paused' };
const crashed = { ...base, kind: 'run', run: 1, outcome: 'crashed' };
const living = { ...start, node: { ...NODE, instance: 'living' } };
const running = { ...living, kind: 'running' };
const short: StoredRunEntry = { ...base, kind: 'run', took: 1, outcome: 'failed', message: 'x' };
const granted = { ...start, until: 3000 };
const withoutPermit = { ...start, token: undefined };
const expiry: StoredRunEntry = { kind: 'expiry', semaphore: 'job', node: NODE, at: 4000, token: 7 };

function shown(entries: readonly StoredRunEntry[], expiry?: number) {
  return paired(entries, openStarts(entries), {
    isLiving: ({ node }) => node.instance === 'living',
    expiryOf: () => expiry,
  });
}

describe('starts and ends of runs', () => {
  it.each<[string, StoredRunEntry[], unknown[]]>([
    ['an end replaces its start', [start, skip, end], [skip, end]],
    ['an end may come before its start', [end, start], [end]],
    ['an end without a start stays', [end], [end]],
    ['a start without an end on a dead node is a crash', [skip, start], [skip, crashed]],
    ['a start without an end on a living node runs', [living, skip], [running, skip]],
    ['a start that was written twice is one run', [start, { ...start }], [crashed]],
    ['both copies of a start go with the end', [start, { ...start }, end], [end]],
    ['a run without a number ends no start', [start, short], [crashed, short]],
    ['another run of the node ends no start', [start, { ...end, run: 2 }], [crashed, { ...end, run: 2 }]],
    ['a node that counts anew ends no start', [start, { ...end, at: 900 }], [crashed, { ...end, at: 900 }]],
    ['another node ends no start', [start, { ...end, node: living.node }], [crashed, { ...end, node: living.node }]],
    [
      'another semaphore ends no start',
      [start, { ...end, semaphore: 'other' }],
      [crashed, { ...end, semaphore: 'other' }],
    ],
  ])('%s', (_, entries, expected) => {
    expect(shown(entries)).toEqual(expected);
  });

  it.each<[string, StoredRunEntry[], number | undefined, number | undefined]>([
    ['the expiry in its record', [granted, expiry], 6000, 6000],
    ['the expiry that another node noted', [granted, expiry], undefined, 4000],
    ['the expiry that was noted before its start', [expiry, granted], undefined, 4000],
    ['its first expiry, beside that of another permit', [granted, { ...expiry, token: 6 }], undefined, 3000],
    ['its first expiry, beside another semaphore', [granted, { ...expiry, semaphore: 'other' }], undefined, 3000],
    ['nothing, without a permit', [withoutPermit, expiry], undefined, undefined],
  ])('a crashed run had its permit until %s', (_, entries, known, until) => {
    const [run, ...others] = shown(entries, known);
    expect(run).toEqual({ ...crashed, ...(until === undefined ? { token: undefined } : { until }) });
    expect(others).toEqual([]);
  });

  it('do not show the expiry of a permit whose run ended or goes on', () => {
    expect(shown([granted, expiry, end])).toEqual([end]);
    expect(shown([{ ...living, until: 3000 }, expiry])).toEqual([running]);
  });
});
