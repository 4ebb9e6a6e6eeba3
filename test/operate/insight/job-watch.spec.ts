import { type JobInfo, StoreUnavailableError } from 'nestjs-gatekeeper';
import { START } from '../../support/fake-time.js';
import { JOB, type TestCluster, type TestNode, useCluster } from '../../support/nodes.js';
import { Sleeper } from '../../support/sleeper.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** ms in which a node has looked twice. */
const TWO_LOOKS = 3 * MINUTE;
const PUBLISHED = { heartbeat: '10s', history: true, definitionsDelay: 0 } as const;

/** The first time at which jobs are due after the start of the test. */
const FIRST = START + 30 * MINUTE;

/** The card of a job that is due at each full hour from {@link FIRST}, and was before. */
function hourly(now: number, semaphore: string): JobInfo {
  const due = now - ((now - FIRST + 10 * HOUR) % HOUR);
  const recent = [due - 2 * HOUR, due - HOUR, due];
  const schedule = { kind: 'cron', expression: '0 * * * *', next: due + HOUR, interval: HOUR, recent } as const;
  return { job: `Jobs.${semaphore}`, semaphore, schedule };
}

/** The card of a job that is due an hour from now. */
function afterAnHour(now: number, semaphore: string): JobInfo {
  const schedule = {
    kind: 'interval',
    expression: String(HOUR),
    next: Math.round(now) + HOUR,
    interval: HOUR,
  } as const;
  return { job: `Jobs.${semaphore}`, semaphore, schedule };
}

/** A node that publishes itself, with a job for each of its semaphores. @param idle semaphores without a job */
async function withJobs(
  nodes: TestCluster,
  names = ['job'],
  idle: readonly string[] = [],
  cardOf = hourly,
): Promise<TestNode> {
  await nodes.bear();
  const definitions = [...names, ...idle].map((name) => ({ ...JOB, name }));
  const node = nodes.unstarted({ ...PUBLISHED, definitions });
  node.gatekeeper.registry.jobs = () => names.map((name) => cardOf(nodes.time.wall(), name));
  await node.gatekeeper.start();
  await nodes.time.advance(0);
  return node;
}

const run = ({ gatekeeper }: TestNode, name = 'job') =>
  gatekeeper.run(name, () => undefined, { job: `Jobs.${name}`, atLeastFor: 0 });

const begun = ({ events }: TestNode) => events.flatMap((event) => (event.type === 'job-warning' ? [event] : []));
const ended = ({ events }: TestNode) => events.flatMap((event) => (event.type === 'job-warning-ended' ? [event] : []));

describe('a job that does not run', () => {
  const cluster = useCluster();

  it('is one line in the log of each node that has it, and one when it runs again, and stands in the health', async () => {
    const nodes = cluster();
    const both = [await withJobs(nodes), await withJobs(nodes)];
    await nodes.time.advance(MINUTE);
    await run(both[0]!);
    await nodes.time.advance(29 * MINUTE);
    expect(both.flatMap(begun)).toEqual([]);
    await nodes.time.advance(20 * MINUTE);
    for (const node of both) {
      const [event, ...more] = begun(node);
      expect(more).toEqual([]);
      expect(event).toMatchObject({ code: 'not-run', semaphore: 'job' });
      expect(event!.sentence).toMatch(
        /^job: Jobs.job was due 2023-11-14 22:43:20 UTC and did not run: it ran last 2023-.*\. See why: gatekeeper explain job$/,
      );
      expect(node.log.filter((line) => line === `warn ${event!.sentence}`)).toHaveLength(1);
      const health = node.gatekeeper.health();
      expect(health).toMatchObject({ status: 'healthy', grants: true, faults: [] });
      expect(health.warnings).toMatchObject([{ code: 'not-run', semaphore: 'job' }]);
      expect(health.warnings![0]!.since - FIRST).toBeGreaterThan(15 * SECOND);
      expect(health.warnings![0]!.since - FIRST).toBeLessThan(TWO_LOOKS);
    }
    await run(both[1]!);
    await nodes.time.advance(2 * MINUTE);
    for (const node of both) {
      const end = { code: 'not-run', semaphore: 'job', sentence: 'job: no run of its jobs is missing any more' };
      expect(ended(node)).toEqual([{ type: 'job-warning-ended', ...end }]);
      expect(node.log).toContain(`log ${end.sentence}`);
      expect(node.gatekeeper.health()).not.toHaveProperty('warnings');
    }
    await nodes.time.advance(HOUR);
    for (const node of both) expect(begun(node)).toHaveLength(2);
  });

  it('is noticed within half a minute after a restart of all nodes, unless the run is made up for meanwhile', async () => {
    for (const isMadeUp of [true, false]) {
      const nodes = cluster();
      const former = await withJobs(nodes);
      await run(former);
      await nodes.time.advance(10 * SECOND);
      await nodes.closeOne(former);
      await nodes.time.advance(HOUR + MINUTE);
      const later = await withJobs(nodes);
      await nodes.time.advance(8 * SECOND);
      if (isMadeUp) await run(later);
      await nodes.time.advance(22 * SECOND);
      expect(begun(later)).toHaveLength(isMadeUp ? 0 : 1);
    }
  });

  it('is noticed after a restart of all nodes also if it runs at intervals, which count anew', async () => {
    const nodes = cluster();
    const former = await withJobs(nodes, ['job'], [], afterAnHour);
    await run(former);
    await nodes.time.advance(10 * SECOND);
    await nodes.closeOne(former);
    await nodes.time.advance(3 * HOUR);
    const later = await withJobs(nodes, ['job'], [], afterAnHour);
    await nodes.time.advance(MINUTE / 2);
    expect(begun(later)).toMatchObject([{ code: 'not-run', semaphore: 'job' }]);
  });

  it('is none if an operator has paused it, also since a time at which it was due', async () => {
    const nodes = cluster();
    const node = await withJobs(nodes);
    await nodes.time.advance(HOUR + TWO_LOOKS);
    expect(begun(node)).toHaveLength(1);
    await node.gatekeeper.definitions.pause('job');
    await nodes.time.advance(TWO_LOOKS);
    expect(ended(node)).toHaveLength(1);
    await nodes.time.advance(2 * HOUR);
    expect(begun(node)).toHaveLength(1);
  });

  it('stands while the store is away, and is no other episode when it is back', async () => {
    const nodes = cluster();
    const node = await withJobs(nodes);
    await nodes.time.advance(HOUR + TWO_LOOKS);
    node.store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await nodes.time.advance(10 * MINUTE);
    expect(node.gatekeeper.health().warnings).toHaveLength(1);
    delete node.store.script;
    await nodes.time.advance(10 * MINUTE);
    expect([begun(node).length, ended(node).length]).toEqual([1, 0]);
  });

  it('is told with at most twenty others, as after an outage', async () => {
    const nodes = cluster();
    const names = Array.from({ length: 50 }, (_, index) => `job-${index}`);
    const node = await withJobs(nodes, names);
    await nodes.time.advance(HOUR + TWO_LOOKS);
    const told = begun(node);
    expect(told.filter(({ semaphore }) => semaphore !== undefined)).toHaveLength(20);
    expect(told.at(-1)!.sentence).toBe('30 more semaphores: the same, "gatekeeper status --warned" lists all of them');
    expect(node.gatekeeper.health().warnings).toHaveLength(20);
    for (const name of names) await run(node, name);
    await nodes.time.advance(TWO_LOOKS);
    expect(ended(node).at(-1)!.sentence).toMatch(/^30 more semaphores: no run /);
  });
});

describe('jobs that are due more often than a node looks', () => {
  const cluster = useCluster();

  it('are warned of since the run that is missing, not since one that seemed to be missing and came', async () => {
    const nodes = cluster();
    const node = await withJobs(nodes);
    const names = ['Jobs.one', 'Jobs.two'];
    node.gatekeeper.registry.jobs = () => {
      const due = nodes.time.wall() - (nodes.time.wall() % MINUTE);
      const recent = [due - 2 * MINUTE, due - MINUTE, due];
      const schedule = { kind: 'cron', expression: '* * * * *', next: due + MINUTE, interval: MINUTE, recent } as const;
      return names.map((job) => ({ job, semaphore: 'job', schedule }));
    };
    await nodes.time.advance(MINUTE - (nodes.time.wall() % MINUTE));
    for (let minute = 0; minute < 40; minute++) {
      for (const job of names) await node.gatekeeper.run('job', () => undefined, { job, atLeastFor: 0 });
      await nodes.time.advance(MINUTE);
    }
    expect(begun(node)).toEqual([]);
    const last = nodes.time.wall() - MINUTE;
    await nodes.time.advance(2 * TWO_LOOKS);
    expect(node.gatekeeper.health().warnings).toMatchObject([{ code: 'not-run' }]);
    expect(node.gatekeeper.health().warnings![0]!.since).toBeGreaterThan(last);
  });
});

describe('a grant without a run', () => {
  const cluster = useCluster();
  const granted = async (nodes: TestCluster, { gatekeeper }: TestNode) => {
    const permit = await gatekeeper.tryAcquire('job');
    await permit!.release();
    await nodes.time.advance(TWO_LOOKS);
  };

  it('does not end a warning', async () => {
    const nodes = cluster();
    const node = await withJobs(nodes);
    await nodes.time.advance(HOUR + TWO_LOOKS);
    expect(begun(node)).toHaveLength(1);
    await granted(nodes, node);
    expect(ended(node)).toEqual([]);
    await run(node);
    await nodes.time.advance(TWO_LOOKS);
    expect(ended(node)).toHaveLength(1);
  });

  it('hides no missed run for longer than a day', async () => {
    const nodes = cluster();
    const node = await withJobs(nodes);
    await nodes.time.advance(30 * MINUTE);
    await run(node);
    for (let hours = 0; hours < 26 && begun(node).length === 0; hours++) {
      await nodes.time.advance(HOUR - TWO_LOOKS);
      await granted(nodes, node);
    }
    expect(begun(node)).toMatchObject([{ code: 'not-run', semaphore: 'job' }]);
  });

  it('of another job of the semaphore hides no missed run', async () => {
    const nodes = cluster();
    const node = await withJobs(nodes);
    const other = { job: 'Jobs.other', atLeastFor: 0 };
    node.gatekeeper.registry.jobs = () => {
      const card = hourly(nodes.time.wall(), 'job');
      return [card, { ...card, job: other.job }];
    };
    await nodes.time.advance(30 * MINUTE);
    await run(node);
    await node.gatekeeper.run('job', () => undefined, other);
    await nodes.time.advance(HOUR);
    await node.gatekeeper.run('job', () => undefined, other);
    await nodes.time.advance(TWO_LOOKS);
    expect(begun(node)).toMatchObject([{ code: 'not-run', sentence: expect.stringContaining('Jobs.job was due') }]);
  });
});

describe('the warnings of a checked health', () => {
  const cluster = useCluster();

  it('are those that are asked for, also if twenty others come first', async () => {
    const nodes = cluster();
    const { gatekeeper } = await withJobs(
      nodes,
      Array.from({ length: 25 }, (_, index) => `job-${index}`),
    );
    await nodes.time.advance(HOUR + TWO_LOOKS);
    const named = async (warnings?: boolean | ((semaphore: string) => boolean)) =>
      (await gatekeeper.checkHealth(warnings === undefined ? {} : { warnings })).warnings?.map(
        (each) => each.semaphore,
      );
    expect(await named(true)).toHaveLength(20);
    expect(await named((name) => name.endsWith('4'))).toEqual(['job-4', 'job-14', 'job-24']);
    for (const none of [undefined, false, () => false]) expect(await named(none)).toBeUndefined();
  });
});

describe('a holder that is not heard of', () => {
  const cluster = useCluster();
  const LONG = { ...PUBLISHED, definitions: [{ ...JOB, duration: '1h' }] };

  it('is one line in the log, and one when its permit has ended, and stands in the health', async () => {
    const nodes = cluster();
    const clock = new Sleeper(nodes.time);
    const holder = await nodes.node(LONG, clock);
    const node = await nodes.node(LONG);
    await holder.gatekeeper.tryAcquire('job');
    await nodes.time.advance(TWO_LOOKS);
    expect(begun(node)).toEqual([]);
    clock.freeze();
    await nodes.time.advance(20 * MINUTE);
    const [event, ...more] = begun(node);
    expect(more).toEqual([]);
    expect(event).toMatchObject({ code: 'holder-silent', semaphore: 'job' });
    expect(event!.sentence).toMatch(/^job: app1 is not heard of and holds slot 0 until .*it crashed, is cut off/);
    expect(node.log.filter((line) => line === `warn ${event!.sentence}`)).toHaveLength(1);
    expect(node.gatekeeper.health()).toMatchObject({ status: 'healthy', warnings: [{ code: 'holder-silent' }] });
    await nodes.time.advance(HOUR);
    expect(ended(node)).toMatchObject([{ code: 'holder-silent', semaphore: 'job' }]);
    expect(node.gatekeeper.health()).not.toHaveProperty('warnings');
    clock.wake();
  });

  it('is none that renews its permit, and only publishes no heartbeat', async () => {
    const nodes = cluster();
    const options = { ...PUBLISHED, definitions: [{ ...JOB, duration: '2m' }] };
    const holder = await nodes.node({ ...options, heartbeat: 0 });
    const node = await nodes.node(options);
    const permit = await holder.gatekeeper.tryAcquire('job');
    for (let half = 0; half < 40; half++) {
      await nodes.time.advance(MINUTE / 2);
      await permit!.refresh();
    }
    expect(begun(node)).toEqual([]);
  });
});

describe('the watch of jobs', () => {
  const cluster = useCluster();

  it('costs no call of the store while all jobs run, on any node, however many there are', async () => {
    const nodes = cluster();
    const names = Array.from({ length: 30 }, (_, index) => `job-${index}`);
    const idle = Array.from({ length: 200 }, (_, index) => `idle-${index}`);
    const [one, other] = [await withJobs(nodes, names), await withJobs(nodes, names, idle)];
    // A node that has just started reads the past of its jobs.
    await nodes.time.advance(30 * MINUTE);
    const pasts: string[] = [];
    other.store.script = (_call, go, key) => {
      if (key?.startsWith('history:')) pasts.push(...key.split(','));
      return go();
    };
    for (let hour = 0; hour < 6; hour++) {
      for (const name of names) await run(one, name);
      await nodes.time.advance(HOUR);
    }
    expect(pasts).toHaveLength(0);
    await nodes.time.advance(TWO_LOOKS);
    expect(new Set(pasts).size).toBeGreaterThan(10);
  });

  it('reads at most a hundred semaphores at one look, and notices all jobs that did not run in time', async () => {
    const nodes = cluster();
    const node = await withJobs(
      nodes,
      Array.from({ length: 150 }, (_, index) => `job-${index}`),
    );
    await nodes.time.advance(29 * MINUTE);
    const readsAt = new Map<number, number>();
    node.store.script = (call, go, key) => {
      const second = Math.floor(nodes.time.wall() / SECOND);
      if (call === 'read' && key?.startsWith('semaphore:job-')) readsAt.set(second, (readsAt.get(second) ?? 0) + 1);
      return go();
    };
    await nodes.time.advance(MINUTE + 3 * TWO_LOOKS);
    expect(Math.max(...readsAt.values())).toBe(100);
    const counts = begun(node).map(({ semaphore, sentence }) =>
      semaphore === undefined ? Number.parseInt(sentence, 10) : 1,
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(150);
  });
});
