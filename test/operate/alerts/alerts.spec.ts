import { Webhook as Standard } from 'standardwebhooks';
import { type AlertsOptions, type GatekeeperOptions, StoreUnavailableError } from 'nestjs-gatekeeper';
import { partsOf } from '../../../lib/gatekeeper/parts.js';
import { eventually } from '../../contract/eventually.js';
import { JOB, type TestCluster, type TestNode, useCluster } from '../../support/nodes.js';
import { Receiver, SECRET } from './receiver.js';

const MINUTE = 60_000;

describe('alerts by webhook', () => {
  const newCluster = useCluster();
  let receiver: Receiver;
  let cluster: TestCluster;

  beforeEach(async () => {
    receiver = await Receiver.start();
    cluster = newCluster();
  });

  afterEach(() => receiver[Symbol.asyncDispose]());

  const node = (alerts: Partial<AlertsOptions> = {}, options: Partial<GatekeeperOptions> = {}) =>
    cluster.node({ alerts: { webhooks: [receiver.webhook], ...alerts }, ...options });
  const received = (count: number) =>
    eventually(`${count} requests`, () => {
      expect(receiver.requests).toHaveLength(count);
      return true;
    });
  const statusOf = ({ gatekeeper }: TestNode) => gatekeeper.health().alerts![0]!;
  /** The request has been answered, and the node has seen that. */
  const accepted = async (count: number, from: TestNode) => {
    await received(count);
    await eventually('the answer', () => statusOf(from).last !== undefined);
    await cluster.time.advance(0);
  };
  const run = ({ gatekeeper }: TestNode, work: () => unknown) =>
    gatekeeper.run('job', work, { job: 'Jobs.export', atLeastFor: 0 }).catch(() => undefined);
  const fail = (of: TestNode) =>
    run(of, () => {
      throw new Error('disk full');
    });

  it('tell at once that a run failed, signed as Standard Webhooks says', async () => {
    const one = await node({ cluster: 'production' });
    // The library compares with the machine's clock.
    cluster.time.jumpWall(Date.now() - cluster.time.wall());
    await fail(one);
    await received(1);
    const [{ headers, body }] = receiver.requests as [(typeof receiver.requests)[0]];
    const standard = new Standard(SECRET);
    expect(standard.verify(body, headers as Record<string, string>)).toEqual(receiver.messages[0]);
    expect(() => standard.verify(`${body} `, headers as Record<string, string>)).toThrow('No matching signature');
    expect(receiver.messages[0]).toMatchObject({
      type: 'alerts',
      data: {
        cluster: 'production',
        node: one.gatekeeper.node,
        alerts: [{ kind: 'run-failed', status: 'firing', semaphore: 'job', job: 'Jobs.export', count: 1 }],
      },
    });
    expect(receiver.alerts[0]!.sentence).toContain('disk full');
    expect(one.of('alert')).toMatchObject([{ alert: { kind: 'run-failed' } }]);
  });

  it('tell that a job works again, on the same node or on another', async () => {
    const one = await node({}, { history: true });
    const other = await node({}, { history: true });
    await fail(one);
    await accepted(1, one);
    await cluster.time.advance(1000);
    await run(other, () => 1);
    await cluster.time.advance(40_000);
    await received(2);
    expect(receiver.alerts).toMatchObject([{ status: 'firing' }, { status: 'resolved', kind: 'run-failed' }]);
    expect(receiver.alerts[1]!.id).toBe(receiver.alerts[0]!.id);
  });

  it('count the failures of a job that fails each second', async () => {
    const one = await node();
    await fail(one);
    await accepted(1, one);
    for (let second = 0; second < 300; second += 1) {
      await cluster.time.advance(1000);
      await fail(one);
    }
    await cluster.time.advance(3000);
    await received(2);
    expect(receiver.alerts.map(({ status, count }) => [status, count])).toEqual([
      ['firing', 1],
      ['firing', expect.any(Number)],
    ]);
    expect(receiver.alerts[1]!.count).toBeGreaterThan(290);
  });

  it('come from one node if several see one trouble', async () => {
    const nodes = [await node(), await node(), await node()];
    for (const { gatekeeper } of nodes) partsOf(gatekeeper).context.clusterClock.suspect('a clock jumped');
    await cluster.time.advance(20_000);
    await received(1);
    expect(receiver.alerts).toMatchObject([{ kind: 'clock-suspect', status: 'firing' }]);
    await cluster.time.advance(2 * MINUTE);
    await received(2);
    expect(receiver.alerts[1]).toMatchObject({ kind: 'clock-suspect', status: 'resolved' });
  });

  it('tell of a warning about a semaphore, from one node, until an operator mends it', async () => {
    const definitions = [{ ...JOB, groupPattern: 'elsewhere' }];
    const nodes = [await node({}, { heartbeat: '1s', definitions }), await node({}, { heartbeat: '1s', definitions })];
    await cluster.time.advance(80_000);
    await received(1);
    expect(receiver.alerts).toMatchObject([{ kind: 'no-node', status: 'firing', semaphore: 'job' }]);
    await nodes[0]!.gatekeeper.definitions.edit('job', { groupPattern: '.*' }, { by: 'ann' });
    await cluster.time.advance(40_000);
    await received(2);
    expect(receiver.alerts[1]).toMatchObject({ kind: 'no-node', status: 'resolved', id: receiver.alerts[0]!.id });
  });

  it('go on from another node when the one that sends them closes', async () => {
    const definitions = [{ ...JOB, groupPattern: 'elsewhere' }];
    const nodes = [await node({}, { heartbeat: '1s', definitions }), await node({}, { heartbeat: '1s', definitions })];
    await cluster.time.advance(80_000);
    await received(1);
    const [first, second] = nodes.toSorted((one, other) => other.of('alert').length - one.of('alert').length);
    await cluster.time.advance(10 * MINUTE);
    expect(receiver.requests).toHaveLength(1);
    const closing = first!.gatekeeper.close();
    await cluster.time.advance(80_000);
    await closing;
    await received(2);
    expect(second!.of('alert')).toMatchObject([{ alert: { kind: 'no-node', id: receiver.alerts[0]!.id } }]);
  });

  it('tell of any other fault of the health, from one node', async () => {
    const nodes = [await node(), await node()];
    for (const { gatekeeper } of nodes) {
      const { birth } = partsOf(gatekeeper).directory;
      Object.defineProperty(birth, 'fault', { value: { since: cluster.time.monotonic(), sentence: 'unread' } });
    }
    await cluster.time.advance(30_000);
    await received(1);
    expect(receiver.alerts).toMatchObject([{ kind: 'degraded', severity: 'warning', sentence: 'unread' }]);
  });

  it('come from each node if the store is lost, and again when it is back', async () => {
    const nodes = [await node(), await node()];
    for (const { store } of nodes) store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await cluster.time.advance(40_000);
    await received(2);
    for (const { store } of nodes) delete store.script;
    await cluster.time.advance(20_000);
    const of = (status: string) =>
      receiver.alerts.filter((alert) => alert.status === status && alert.kind === 'store-lost');
    await eventually('the end', () => of('resolved').length === 2);
    const idsOf = (status: string) => of(status).map(({ id }) => id);
    expect(new Set(idsOf('firing')).size).toBe(2);
    expect(idsOf('resolved').toSorted()).toEqual(idsOf('firing').toSorted());
    expect(of('firing')[0]!.groupKey).toBe(of('firing')[1]!.groupKey);
  });

  it('tell nothing of a fault that is over before the pending period', async () => {
    const one = await node({ pendingPeriod: '1m' });
    one.store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await cluster.time.advance(30_000);
    expect(one.gatekeeper.health().grants).toBe(false);
    delete one.store.script;
    await cluster.time.advance(5 * MINUTE);
    expect(one.of('alert')).toEqual([]);
  });

  it('are sent again after an error, with one id and a new time', async () => {
    const one = await node();
    receiver.answer = (response, count) => response.writeHead(count === 1 ? 503 : 200).end();
    await fail(one);
    await accepted(1, one);
    await cluster.time.advance(2000);
    await received(2);
    const [first, second] = receiver.requests.map(({ headers }) => headers);
    expect(second!['webhook-id']).toBe(first!['webhook-id']);
    expect(Number(second!['webhook-timestamp'])).toBeGreaterThan(Number(first!['webhook-timestamp']));
    await eventually('the answer', () => statusOf(one).last?.status === 200);
    expect(one.of('alerts-undelivered')).toEqual([]);
  });

  it.each([
    ['refuses them', 400, 'answered 400'],
    ['is elsewhere', 302, 'redirects are not followed'],
  ])('are given up loudly when the receiver %s', async (_what, status, problem) => {
    const one = await node();
    receiver.answer = (response) => response.writeHead(status, { location: receiver.url }).end();
    await fail(one);
    await eventually('the end', () => one.of('alerts-undelivered').length === 1);
    expect(receiver.requests).toHaveLength(1);
    expect(one.of('alerts-undelivered')).toMatchObject([
      { receiver: 'duty', count: 1, problem: expect.stringContaining(problem) },
    ]);
    expect(one.gatekeeper.health().faults).toMatchObject([{ code: 'alerts-undelivered', stopsGrants: false }]);
    expect(one.log.filter((line) => line.startsWith('error 1 alerts'))).toHaveLength(1);
    expect(one.log.join()).not.toMatch(/hidden-path|whsec_/);
    receiver.answer = (response) => response.writeHead(200).end();
    await run(one, () => 1);
    await eventually('the fault is over', () => one.gatekeeper.health().faults.length === 0);
  });

  it('are given up after eight attempts', async () => {
    const one = await node();
    receiver.answer = (response) => response.writeHead(500).end();
    await fail(one);
    await eventually('the end', async () => {
      await cluster.time.advance(10_000);
      return one.of('alerts-undelivered').length === 1;
    });
    await cluster.time.advance(10 * MINUTE);
    expect(receiver.requests).toHaveLength(8);
  });

  it('travel together while the receiver is busy, and are dropped loudly beyond 200', async () => {
    const one = await node({}, { definitions: [{ ...JOB, permits: 1000 }] });
    let answerFirst = () => {};
    receiver.answer = (response, count) => {
      if (count === 1) answerFirst = () => response.writeHead(204).end();
      else response.writeHead(204).end();
    };
    const failures = Array.from({ length: 251 }, (_, job) =>
      one.gatekeeper
        .run('job', () => Promise.reject(new Error('no')), { job: `job ${job}`, atLeastFor: 0 })
        .catch(() => undefined),
    );
    await Promise.all(failures);
    await received(1);
    expect(one.of('alerts-undelivered').reduce((sum, { count }) => sum + count, 0)).toBe(50);
    answerFirst();
    await eventually('all', async () => {
      await cluster.time.advance(1000);
      return statusOf(one).waiting === 0 && receiver.alerts.length === 201;
    });
    expect(Math.max(...receiver.messages.map(({ data }) => data.alerts.length))).toBe(20);
    expect(Math.max(...receiver.requests.map(({ body }) => body.length))).toBeLessThan(40_000);
  });

  it('give a receiver only its kinds', async () => {
    const one = await node({ webhooks: [{ ...receiver.webhook, kinds: ['store-lost'] }] });
    await fail(one);
    expect(one.of('alert')).toHaveLength(1);
    expect(statusOf(one)).toMatchObject({ waiting: 0 });
    expect(receiver.requests).toEqual([]);
  });

  it('give Slack a text without markup', async () => {
    const { secret: _none, ...webhook } = receiver.webhook;
    const one = await node({ webhooks: [{ ...webhook, format: 'slack' }], cluster: 'dr' });
    await run(one, () => {
      throw new Error('<!channel> & @all [Login](https://evil.example) *bold* `x` ~y~\nwarning: two');
    });
    await received(1);
    const said =
      "&lt;!channel&gt; &amp; @\u200ball [Login]\u200b(https:\u200b//evil.example) \u2217bold\u2217 'x' \u223cy\u223c warning: two";
    expect(JSON.parse(receiver.requests[0]!.body)).toEqual({
      text: `[dr] warning: run-failed: job: Jobs.export failed on app1: ${said}`,
      mrkdwn: false,
      parse: 'none',
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
    });
    expect(receiver.requests[0]!.headers['webhook-signature']).toBeUndefined();
  });

  it('end a request without an answer after its timeout, also of a test', async () => {
    receiver.answer = () => undefined;
    const one = await node({ webhooks: [{ ...receiver.webhook, timeout: 2000 }] });
    const results = await partsOf(one.gatekeeper).alerts!.test();
    expect(results).toMatchObject([{ name: 'duty', problem: 'no answer within 2000 ms' }]);
    expect(receiver.messages).toMatchObject([{ type: 'alerts.test', data: { alerts: [] } }]);
    expect(statusOf(one).last).toMatchObject({ problem: results[0]!.problem });
  });

  it('do not keep an application from closing, and say what is lost', async () => {
    receiver.answer = () => undefined;
    const one = await node();
    await fail(one);
    await received(1);
    const closing = one.gatekeeper.close();
    await eventually('closed', async () => {
      await cluster.time.advance(1000);
      return one.of('alerts-undelivered').length === 1;
    });
    await closing;
  });

  it('cost nothing without the option', async () => {
    const one = await cluster.node();
    expect(partsOf(one.gatekeeper).alerts).toBeUndefined();
    expect(one.gatekeeper.health().alerts).toBeUndefined();
  });
});
