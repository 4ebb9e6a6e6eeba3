import fc from 'fast-check';
import type { EndedRun, StartEntry } from '../../../../lib/operate/activity/entry-schemas.js';
import { jobKey } from '../../../../lib/operate/activity/history-entry.js';
import { type JobRecord, combined, ofRun, ofStart } from '../../../../lib/operate/activity/jobs/job-record.js';
import {
  type Addition,
  EMPTY_SHARD,
  type JobShard,
  withAddition,
} from '../../../../lib/operate/activity/jobs/job-shard.js';
import {
  MOST_BYTES,
  MOST_JOBS,
  decodeJobShard,
  encodeJobShard,
} from '../../../../lib/operate/activity/jobs/job-shard.codec.js';
import { DAY, HOUR } from '../../../../lib/operate/activity/jobs/run-periods.js';

const NOW = 20_000 * DAY + 5 * HOUR;
const NODE = { group: 'default', acquirer: 'app1', instance: 'one' };
const aRun = (changes: Partial<EndedRun> = {}): EndedRun => ({
  kind: 'run',
  semaphore: 'nightly',
  job: 'Jobs.export',
  node: NODE,
  at: NOW - HOUR,
  took: 100,
  outcome: 'ok',
  token: 1,
  slot: 0,
  ...changes,
});
const aStart: StartEntry = {
  kind: 'start',
  semaphore: 'nightly',
  job: 'Jobs.export',
  node: NODE,
  at: NOW - HOUR,
  token: 7,
  slot: 0,
  run: 1,
  until: NOW,
};

function addition(jobs: readonly JobRecord[], changes: Partial<Addition> = {}): Addition {
  const byName = new Map<string, JobRecord>();
  for (const job of jobs) {
    const known = byName.get(jobKey(job));
    byName.set(jobKey(job), known ? combined(known, job, NOW) : job);
  }
  return { writer: 'one', seq: 1, at: NOW, jobs: byName, ended: new Set(), expiries: [], ...changes };
}

function decoded(text: string | undefined) {
  const pieces = decodeJobShard(text);
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
  }
}

const job = ({ jobs }: JobShard) => [...jobs.values()][0]!;

const runs = fc.array(
  fc.record({
    at: fc.integer({ min: NOW - 40 * DAY, max: NOW }),
    took: fc.integer({ min: 0, max: 2 * HOUR }),
    outcome: fc.constantFrom('ok' as const, 'failed' as const, 'lost' as const),
    token: fc.integer({ min: 1, max: 1_000_000 }),
  }),
  { maxLength: 60 },
);

describe('the record of a job', () => {
  it('has the runs of one ms by their numbers, and not by the digits of these', () => {
    const all = [9, 10, 11].map((run) => ofRun(aRun({ run })));
    expect(all.reduce((one, other) => combined(one, other, NOW)).runs.map(({ run }) => run)).toEqual([11, 10, 9]);
  });

  it('has no crash of a run whose node tells of the loss of its permit, in either order', () => {
    const loss = { at: NOW - 1000, reason: 'max-run-time' as const };
    const expired = addition([], {
      writer: 'two',
      expiries: [{ kind: 'expiry', semaphore: 'nightly', node: NODE, at: NOW, token: 7 }],
    });
    const begun = withAddition(EMPTY_SHARD, addition([ofStart(aStart)]));
    const told = addition([ofStart({ ...aStart, loss })], { seq: 2 });
    const orders = [
      [told, expired],
      [expired, told],
    ];
    for (const order of orders) {
      const record = job(order.reduce(withAddition, begun));
      expect(record).toMatchObject({ runs: [], failures: [], starts: [{ loss }] });
      expect(record.days.map(({ crashed }) => crashed).filter((count) => count > 0)).toEqual([]);
      const text = encodeJobShard(order.reduce(withAddition, begun));
      expect(job(decoded(text).shard).starts).toMatchObject([{ loss }]);
    }
    // Without that the run counts as crashed.
    expect(job(withAddition(begun, expired))).toMatchObject({ runs: [{ outcome: 'crashed', until: NOW }], starts: [] });
  });

  it('is the same in whatever order and groups the runs are added', () => {
    fc.assert(
      fc.property(runs, fc.nat(), (all, cut) => {
        const distinct = all.map((run, index) => aRun({ ...run, token: index + 1 }));
        const added = (some: readonly EndedRun[]) =>
          some.map((run) => ofRun(run)).reduce((one, other) => combined(one, other, NOW));
        if (distinct.length < 2) return;
        const at = 1 + (cut % (distinct.length - 1));
        const parts = combined(added(distinct.slice(at)), added(distinct.slice(0, at)), NOW);
        expect(parts).toEqual(added(distinct));
      }),
    );
  });

  it('counts each run of the last days once, and keeps the newest runs and failures', () => {
    fc.assert(
      fc.property(runs, (all) => {
        const distinct = all.map((run, index) => aRun({ ...run, token: index + 1 }));
        const shard = withAddition(EMPTY_SHARD, addition(distinct.map((run) => ofRun(run))));
        if (all.length === 0) return;
        const {
          days,
          runs: kept,
          failures,
        } = job(withAddition(EMPTY_SHARD, addition([job(shard), ofRun(aRun({ at: NOW, token: 0 }))])));
        const counted = days.reduce((sum, { ok, failed, lost }) => sum + ok + failed + lost, 0);
        const recent = distinct.filter(({ at }) => at >= NOW - 5 * HOUR - 34 * DAY);
        expect(counted).toBe(recent.length + 1);
        expect(kept.length).toBe(Math.min(20, distinct.length + 1));
        expect(failures.length).toBe(Math.min(10, distinct.filter(({ outcome }) => outcome !== 'ok').length));
      }),
    );
  });

  it('tells runs apart that overlap under one permit and began in the same ms', () => {
    const failed = [1, 2, 3].map((run) => ofRun(aRun({ run, outcome: 'failed', message: `no ${run}` })));
    const { runs: kept, failures } = job(withAddition(EMPTY_SHARD, addition(failed)));
    expect(kept.map(({ run }) => run)).toEqual([3, 2, 1]);
    expect(failures.map(({ message }) => message)).toEqual(['no 3', 'no 2', 'no 1']);
  });

  it('has a run without a number once for its permit', () => {
    const all = [aRun(), aRun(), aRun({ token: 2 })].map((run) => ofRun(run));
    expect(job(withAddition(EMPTY_SHARD, addition(all))).runs.map(({ token }) => token)).toEqual([2, 1]);
  });

  it('keeps the stack of the newest five failures', () => {
    const failed = Array.from({ length: 12 }, (_, index) =>
      ofRun(aRun({ at: NOW - index, outcome: 'failed', message: `no ${index}` }), `stack ${index}`),
    );
    const { failures } = job(withAddition(EMPTY_SHARD, addition(failed)));
    expect(failures.map(({ message }) => message)).toEqual(Array.from({ length: 10 }, (_, index) => `no ${index}`));
    expect(failures.map(({ stack }) => stack !== undefined)).toEqual([...Array(5).fill(true), ...Array(5).fill(false)]);
  });

  it('has the first time of each version, in whatever order nodes note them, and the newest ten', () => {
    const version = fc.record({ version: fc.integer({ min: 1, max: 15 }).map(String), since: fc.nat(100) });
    fc.assert(
      fc.property(fc.array(version, { minLength: 1 }), (noted) => {
        const added = (some: typeof noted) =>
          some
            .map((each): JobRecord => ({ ...ofRun(aRun()), versions: [each] }))
            .reduce((one, other) => combined(one, other, NOW)).versions;
        const firsts = new Map(
          noted.toSorted((one, other) => other.since - one.since).map((each) => [each.version, each]),
        );
        const newest = [...firsts.values()].toSorted((one, other) => other.since - one.since).slice(0, 10);
        expect(added(noted)?.map(({ since }) => since)).toEqual(newest.map(({ since }) => since));
        for (const each of added(noted)!) expect(each).toEqual(firsts.get(each.version));
      }),
    );
  });

  it('forgets the start of a run that ended, also if twenty newer runs are known', () => {
    const started = withAddition(EMPTY_SHARD, addition([ofStart(aStart)]));
    expect(job(started).starts).toHaveLength(1);
    const newer = Array.from({ length: 25 }, (_, index) => ofRun(aRun({ at: NOW - index, token: 100 + index })));
    const ended = { seq: 2, ended: new Set([`nightly\none\n${aStart.at}\n1`]) };
    expect(job(withAddition(started, addition(newer, ended))).starts).toEqual([]);
  });

  it('shows an expired permit as a crash, until the end of the run replaces it', () => {
    const started = withAddition(EMPTY_SHARD, addition([ofStart(aStart)]));
    const expiry = { kind: 'expiry', semaphore: 'nightly', node: NODE, at: NOW, token: 7 } as const;
    const crashed = withAddition(started, addition([], { writer: 'two', expiries: [expiry] }));
    expect(job(crashed)).toMatchObject({
      starts: [],
      failures: [{ outcome: 'crashed', until: NOW, at: aStart.at }],
      days: [{ crashed: 1, lost: 0 }],
    });
    const end = ofRun(aRun({ token: 7, run: 1, outcome: 'lost' }));
    expect(job(withAddition(crashed, addition([end], { seq: 2 })))).toMatchObject({
      runs: [{ outcome: 'lost' }],
      failures: [{ outcome: 'lost' }],
      days: [{ crashed: 0, lost: 1 }],
    });
  });
});

describe('the records of a shard', () => {
  it('have an addition once, however often it is written and whatever other nodes add between', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ writer: fc.constantFrom('a', 'b', 'c'), again: fc.boolean() })), (steps) => {
        const seqs = new Map<string, number>();
        let shard = EMPTY_SHARD;
        let expected = 0;
        for (const [index, { writer, again }] of steps.entries()) {
          const former = seqs.get(writer);
          const isRepeated = again && former !== undefined;
          const seq = isRepeated ? former : (former ?? 0) + 1;
          seqs.set(writer, seq);
          if (!isRepeated) expected++;
          shard = withAddition(shard, addition([ofRun(aRun({ token: index }))], { writer, seq }));
          shard = decoded(encodeJobShard(shard)).shard;
        }
        expect([...shard.jobs.values()].reduce((sum, { days }) => sum + days[0]!.ok, 0)).toBe(expected);
      }),
    );
  });

  it('are the same after they were stored', () => {
    const failed = ofRun(aRun({ outcome: 'failed', message: 'disk full', token: 2 }), 'Error: disk full\n at x');
    const shard = withAddition(
      EMPTY_SHARD,
      addition([{ ...ofRun(aRun()), versions: [{ version: '1.0', since: NOW }] }, failed, ofStart(aStart)]),
    );
    const { shard: read, faults } = decoded(encodeJobShard(shard));
    expect(faults).toEqual([]);
    expect(JSON.parse(JSON.stringify([...read.jobs]))).toEqual(JSON.parse(JSON.stringify([...shard.jobs])));
    expect(read.writers).toEqual(shard.writers);
  });

  it('stay below their limits: the jobs that were not used for the longest time go first', () => {
    const big = (index: number) => {
      const failures = Array.from({ length: 5 }, (_, each) =>
        ofRun(
          aRun({ job: `Jobs.${index}`, at: NOW - index * 1000 - each, outcome: 'failed', message: 'é'.repeat(500) }),
          'x'.repeat(2048),
        ),
      );
      return failures;
    };
    const shard = withAddition(EMPTY_SHARD, addition(Array.from({ length: 40 }, (_, index) => big(index)).flat()));
    const text = encodeJobShard(shard);
    expect(Buffer.byteLength(text)).toBeLessThan(MOST_BYTES + 1000);
    const kept = [...decoded(text).shard.jobs.values()].map((each) => each.job);
    expect(kept.length).toBeGreaterThan(3);
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => `Jobs.${index}`));
    const many = Array.from({ length: 100 }, (_, index) => ofRun(aRun({ job: `Jobs.${index}`, at: NOW - index })));
    const few = decoded(encodeJobShard(withAddition(EMPTY_SHARD, addition(many)))).shard;
    expect(few.jobs.size).toBe(MOST_JOBS);
    expect(few.jobs.has('nightly\nJobs.0')).toBe(true);
  });

  it('keep the last run of a job with a schedule beside more busy jobs than fit', () => {
    const failed = (index: number) => aRun({ job: 'Jobs.monthly', at: NOW - (10 + index) * DAY, outcome: 'failed' });
    const monthly = [0, 1, 2].map((index) => ({ ...ofRun(failed(index), 'stack'), schedule: '0 3 1 * *' }));
    const busy = Array.from({ length: 100 }, (_, index) => ({
      ...ofRun(aRun({ job: `Jobs.${index}`, at: NOW - index })),
      schedule: '* * * * *',
    }));
    const { jobs } = decoded(encodeJobShard(withAddition(EMPTY_SHARD, addition([...monthly, ...busy])))).shard;
    expect(jobs.size).toBe(101);
    const rare = jobs.get('nightly\nJobs.monthly')!;
    expect(rare).toMatchObject({ schedule: '0 3 1 * *', runs: [{ at: NOW - 10 * DAY, outcome: 'failed' }] });
    expect([...rare.failures, ...rare.hours, ...rare.days]).toEqual([]);
  });

  it('keep a job with a schedule for 35 days longer than those whose names may come from arguments', () => {
    const fill = (age: number) => {
      const monthly = { ...ofRun(aRun({ job: 'Jobs.monthly', at: NOW - age })), schedule: '0 3 1 * *' };
      const many = Array.from({ length: 100 }, (_, index) => ofRun(aRun({ job: `Jobs.${index}`, at: NOW - index })));
      return decoded(encodeJobShard(withAddition(EMPTY_SHARD, addition([monthly, ...many])))).shard.jobs;
    };
    expect(fill(34 * DAY).has('nightly\nJobs.monthly')).toBe(true);
    expect(fill(36 * DAY).has('nightly\nJobs.monthly')).toBe(false);
  });

  it.each<[string, string, RegExp]>([
    ['no JSON', 'x', /is not JSON/],
    ['another program’s', '{"v":"x"}', /v: /],
    ['a number for a job', '{"v":1,"writers":[],"jobs":[7]}', /the history of a job/],
    ['a list of a million', `{"v":1,"writers":[],"jobs":[{"nodes":[${'1,'.repeat(1000)}1]}]}`, /nodes/],
    ['a very long text', ' '.repeat(2 ** 20 + 1), /longer than/],
  ])('leave out and report %s', (_, text, fault) => {
    const { shard, faults, isNewer } = decoded(text);
    expect(shard.jobs.size).toBe(0);
    expect(faults.join()).toMatch(fault);
    expect(isNewer).toBe(false);
  });

  it('tell a newer format', () => {
    expect(decoded('{"v":2,"writers":[],"jobs":[]}')).toMatchObject({
      isNewer: true,
      faults: ['a history of jobs has the format 2'],
    });
  });
});
