import { type RunPermit, StoreUnavailableError } from 'nestjs-gatekeeper';
import { eventually } from '../../contract/eventually.js';
import { JOB, type TestCluster, type TestNode, openEnd, useCluster } from '../../support/nodes.js';
import { Sleeper } from '../../support/sleeper.js';
import { Receiver, SECRET } from './receiver.js';

const MINUTE = 60_000;
const DAY = 86_400_000;
/** Nothing listens there: the tests look at the events. */
const NOWHERE = { webhooks: [{ url: 'http://127.0.0.1:1/', secret: SECRET, allowHttp: true }] };

/** The messages of a node about failed runs. */
function statusesOf(node: TestNode) {
  return node.of('alert').flatMap(({ alert: { kind, status } }) => (kind === 'run-failed' ? status : []));
}

describe('alerts about failed runs', () => {
  const newCluster = useCluster();
  let cluster: TestCluster;

  beforeEach(() => {
    cluster = newCluster();
  });

  it('tell of one that crashed, however many runs of other jobs began after it', async () => {
    const busy = { history: true, heartbeat: '10s', definitions: [JOB, { ...JOB, name: 'tick' }] } as const;
    const clock = new Sleeper(cluster.time);
    const mortal = await cluster.node(busy, clock);
    const watcher = await cluster.node({ ...busy, alerts: NOWHERE });
    await cluster.time.advance(40_000);
    const { work, end } = openEnd();
    const running = mortal.gatekeeper.run('job', (permit) => (void permit.signal, work()), { job: 'Jobs.nightly' });
    for (let round = 0; round < 3; round += 1) {
      const tick = () => watcher.gatekeeper.run('tick', () => 1, { job: 'Jobs.tick', atLeastFor: 0 });
      for (let ticks = 0; ticks < 500; ticks += 1) await tick();
      await cluster.time.advance(30_000);
    }
    clock.freeze();
    await cluster.time.advance(2 * MINUTE);
    clock.wake();
    end();
    await running;
    const crashed = { kind: 'run-failed', status: 'firing', semaphore: 'job', job: 'Jobs.nightly' };
    expect(watcher.of('alert')[0]).toMatchObject({ alert: crashed });
  });

  it('do not end when the next run fails on another node', async () => {
    const busy = { history: true, heartbeat: '10s', definitions: [JOB] } as const;
    const clock = new Sleeper(cluster.time);
    const mortal = await cluster.node(busy, clock);
    const watcher = await cluster.node({ ...busy, alerts: NOWHERE });
    await cluster.time.advance(40_000);
    const other = await cluster.node({ ...busy, alerts: NOWHERE });
    const { work, end } = openEnd();
    const running = mortal.gatekeeper.run('job', work, { job: 'Jobs.nightly' });
    await cluster.time.advance(30_000);
    clock.freeze();
    await cluster.time.advance(2 * MINUTE);
    const run = (job: () => unknown) => other.gatekeeper.run('job', job, { job: 'Jobs.nightly', atLeastFor: 0 });
    await expect(run(() => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full');
    await cluster.time.advance(2 * MINUTE);
    const afterFailure = [watcher, other].map(statusesOf);
    await run(() => 1);
    await cluster.time.advance(2 * MINUTE);
    clock.wake();
    end();
    await running;
    expect(afterFailure).toEqual([['firing'], ['firing']]);
    expect([watcher, other].map(statusesOf)).toEqual([['firing'], ['firing', 'resolved']]);
  });

  it('do not end when the next run loses its permit, too', async () => {
    const node = await cluster.node({ history: true, heartbeat: '10s', definitions: [JOB], alerts: NOWHERE });
    const run = async (work: (permit: RunPermit) => unknown) => {
      const ran = node.gatekeeper.run('job', work, { job: 'Jobs.nightly', maxRunTime: '1s', atLeastFor: 0 });
      await cluster.time.advance(MINUTE);
      await ran;
    };
    const lose = () => run(({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)));
    await cluster.time.advance(40_000);
    for (let round = 0; round < 2; round += 1) await lose();
    expect(statusesOf(node)).toEqual(['firing']);
    await run(() => 1);
    expect(statusesOf(node)).toEqual(['firing', 'resolved']);
  });

  it('end after 8 days if the job does not run again', async () => {
    const node = await cluster.node({ alerts: NOWHERE });
    const fail = () => Promise.reject(new Error('no such order'));
    await expect(node.gatekeeper.run('job', fail, { job: 'order-4711', atLeastFor: 0 })).rejects.toThrow('no such');
    cluster.time.freeze(8 * DAY - 10 * MINUTE);
    await cluster.time.advance(5 * MINUTE);
    expect(statusesOf(node)).toEqual(['firing', 'firing']);
    await cluster.time.advance(6 * MINUTE);
    expect(statusesOf(node)).toEqual(['firing', 'firing', 'resolved']);
  });

  it('leave room for a lost store, however many jobs failed', async () => {
    const node = await cluster.node({ alerts: NOWHERE, definitions: [{ ...JOB, permits: 1000 }] });
    const fail = () => Promise.reject(new Error('no such order'));
    const runs = Array.from({ length: 1000 }, (_, order) =>
      node.gatekeeper.run('job', fail, { job: `order-${order}`, atLeastFor: 0 }),
    );
    await Promise.allSettled(runs);
    expect(node.of('alert')).toHaveLength(1000);
    node.store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await cluster.time.advance(MINUTE);
    expect(node.of('alert').slice(1000)).toMatchObject([{ alert: { kind: 'store-lost', status: 'firing' } }]);
  });

  it.each([
    ['standard', '失敗'],
    ['standard', '\u0007'],
    ['slack', '&&'],
  ] as const)(
    'travel in requests of less than 40 kB of the format %s, whatever %j the errors contain',
    async (format, text) => {
      await using receiver = await Receiver.start();
      const webhooks = [{ ...receiver.webhook, format }];
      const node = await cluster.node({ alerts: { webhooks }, definitions: [{ ...JOB, permits: 21 }] });
      const fail = () => Promise.reject(new Error(text.repeat(1000)));
      const runs = Array.from({ length: 21 }, (_, order) =>
        node.gatekeeper.run('job', fail, { job: `order-${order}`, atLeastFor: 0 }),
      );
      await Promise.allSettled(runs);
      const bodies = () => receiver.requests.map(({ body }) => body);
      await eventually('all alerts', async () => {
        await cluster.time.advance(1000);
        return (
          new Set(
            bodies()
              .join('')
              .match(/order-\d+/g),
          ).size === 21
        );
      });
      expect(Math.max(...bodies().map((body) => Buffer.byteLength(body)))).toBeLessThan(40_000);
    },
  );
});
