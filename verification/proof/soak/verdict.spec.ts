import type { Course, TimedSample } from './course.js';
import { figuresOf } from './table.js';
import { verdictOf } from './verdict.js';

/** A healthy process: its heap goes up while it warms up, and then saws. */
function sample(index: number): TimedSample {
  const minute = index / 12;
  return {
    minute,
    heapUsed: 25_000_000 + Math.min(minute, 5) * 500_000 + (index % 5) * 40_000,
    compiled: 7_000_000,
    external: 2_700_000,
    rss: 140_000_000,
    timers: { 'lease.js:1': 20 + (index % 3) },
    resources: { PipeWrap: 2, TCPSocketWrap: 2 },
    listeners: 23,
    names: 408,
    loopDelay: { mean: 10, p99: 12, max: 20 },
    faults: { unhandledRejections: 0, uncaughtExceptions: 0, warnings: 0 },
    done: { granted: 100 * index },
  };
}

const LEFT = { timers: {}, resources: { PipeWrap: 2 } };
const ENDING = { wasRunning: true, left: LEFT, exitCode: 0 };

function course(
  change: (sample: TimedSample) => Partial<TimedSample> = () => ({}),
  rest: Partial<Course> = {},
): Course {
  const samples = Array.from({ length: 120 }, (_, index) => sample(index));
  return {
    node: 'b',
    faults: [],
    ending: ENDING,
    samples: samples.map((each) => ({ ...each, ...change(each) })),
    ...rest,
  };
}

describe('the verdict', () => {
  it('finds nothing in a healthy process, though its heap grew while it warmed up', () => {
    expect(verdictOf([course()])).toEqual([]);
  });

  it.each<[string, (sample: TimedSample) => Partial<TimedSample>, string]>([
    ['heap', ({ minute, heapUsed }) => ({ heapUsed: heapUsed + minute * 250_000 }), '250'],
    ['external', ({ minute }) => ({ external: 2_700_000 + minute * 35_000 }), '35'],
    ['timers', ({ minute, timers }) => ({ timers: { ...timers, 'leak.js:1': Math.floor(minute * 60) } }), '60'],
    ['handles', ({ minute }) => ({ resources: { TCPSocketWrap: 2 + Math.floor(minute * 3) } }), '3'],
    ['listeners', ({ minute }) => ({ listeners: 23 + Math.floor(minute * 12) }), '12'],
    ['names', ({ minute }) => ({ names: 408 + Math.floor(minute * 10) }), '10'],
  ])('says which process, which figure, from what to what: %s', (figure, change, perMinute) => {
    const findings = verdictOf([course(), course(change, { node: 'c' })]);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatch(new RegExp(`^c: ${figure} grew from \\d.* in minute 5\\.0 to \\d.* in minute 9\\.9`));
    const slope = Number(/, by ([\d.]+)/.exec(findings[0]!)?.[1]);
    expect(slope).toBeGreaterThan(Number(perMinute) * 0.9);
    expect(slope).toBeLessThan(Number(perMinute) * 1.1);
    expect(figuresOf([course(change)])).toMatch(new RegExp(`${figure}.*GROWS`));
  });

  it('does not take noise for growth, nor growth below the bound', () => {
    const noise = ({ heapUsed, minute }: TimedSample) => ({ heapUsed: heapUsed + Math.sin(minute * 40) * 1_000_000 });
    const little = ({ heapUsed, minute }: TimedSample) => ({ heapUsed: heapUsed + minute * 30_000 });
    expect(verdictOf([course(noise), course(little)])).toEqual([]);
  });

  it('leaves compiled code out of account', () => {
    const compiling = ({ heapUsed, compiled, minute }: TimedSample) => ({
      heapUsed: heapUsed + minute * 250_000,
      compiled: compiled + minute * 250_000,
    });
    expect(verdictOf([course(compiling)])).toEqual([]);
  });

  it('tells of rejections, exceptions and warnings, and what was said of them', () => {
    const faults = { unhandledRejections: 2, uncaughtExceptions: 0, warnings: 1 };
    const findings = verdictOf([course(() => ({ faults }), { faults: ['b: {"kind":"warnings"}'] })]);
    expect(findings).toEqual([
      'b: unhandledRejections went from 0 to 2',
      'b: warnings went from 0 to 1',
      'b said: b: {"kind":"warnings"}',
    ]);
  });

  it.each<[string, Partial<Course['ending']>, string]>([
    ['timers', { left: { ...LEFT, timers: { 'lease.js:84': 2 } } }, 'timers after close(): {"lease.js:84":2}'],
    ['a socket', { left: { ...LEFT, resources: { TCPSocketWrap: 1 } } }, 'open after close(): {"TCPSocketWrap":1}'],
    ['the process', { exitCode: undefined, signal: 'SIGKILL' }, 'did not end by itself (by SIGKILL)'],
    ['a close() that hangs', { left: undefined, signal: 'SIGKILL' }, 'close() did not end (by SIGKILL)'],
    ['a crash', { wasRunning: false, exitCode: 1 }, 'ended in the middle of the soak (exit code 1)'],
  ])('tells what was left over: %s', (_what, ending, sentence) => {
    const findings = verdictOf([course(undefined, { ending: { ...ENDING, ...ending } })]);
    expect(findings).toEqual([`b: ${sentence}`]);
  });

  it('does not call a soak good that was too short to tell', () => {
    const short = { ...course(), samples: course().samples.slice(0, 12) };
    expect(verdictOf([short])).toContainEqual(
      expect.stringMatching(/^b: timers can't be judged: \d+ samples .* too few/),
    );
    expect(figuresOf([short])).toMatch(/heap, kB +0 samples in the second half after minute 4 are too few/);
  });

  it('judges the memory of no process that still warms up, but counts its timers', () => {
    const growing = course(({ heapUsed, minute, timers }) => ({
      heapUsed: heapUsed + minute * 250_000,
      timers: { ...timers, 'leak.js:1': Math.floor(minute * 60) },
    }));
    const findings = verdictOf([{ ...growing, samples: growing.samples.slice(0, 50) }]);
    expect(findings).toEqual([
      expect.stringMatching(/^b: heap can't be judged/),
      expect.stringMatching(/^b: external can't be judged/),
      expect.stringMatching(/^b: timers grew/),
    ]);
  });
});
