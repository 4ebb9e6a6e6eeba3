import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { NodeSemaphore } from '../../../lib/core/permits/node-semaphore.js';
import { START } from '../../support/fake-time.js';
import { removed } from '../../support/removed.js';
import { JOB, useCluster } from '../../support/nodes.js';

describe('state', () => {
  const cluster = useCluster();

  it('tells who holds what on all nodes, by name', async () => {
    const nodes = cluster();
    const definitions = [
      { ...JOB, permits: 2 },
      { ...JOB, name: 'alpha', groupPattern: 'elsewhere' },
    ];
    const [one, other] = [await nodes.node({ definitions }), await nodes.node({ definitions })];
    await one.gatekeeper.tryAcquire('job');
    await nodes.time.advance(1000);
    const { semaphores, node, store } = await other.gatekeeper.state();
    expect(node).toEqual(other.gatekeeper.node);
    expect(store.connected).toBe(true);
    expect(semaphores).toMatchObject([
      { name: 'alpha', holders: [], free: 2 - 1, isForThisNode: false },
      {
        name: 'job',
        revision: 1,
        free: 1,
        isForThisNode: true,
        holders: [{ slot: 0, acquirer: 'app1', remaining: 9000, isMine: false, token: START * 1024 }],
      },
    ]);
  });

  it('is what this node last knew while the store can not be asked', async () => {
    const { gatekeeper, store } = await cluster().node();
    await gatekeeper.tryAcquire('job');
    store.script = () => Promise.reject(new StoreUnavailableError('away'));
    expect((await gatekeeper.state()).semaphores).toMatchObject([{ name: 'job', holders: [{ isMine: true }] }]);
  });

  it('is dumped in one line per semaphore that grep finds', async () => {
    const nodes = cluster();
    const { gatekeeper, log } = await nodes.node({
      definitions: [
        { ...JOB, permits: 2 },
        { ...JOB, name: 'gone' },
      ],
      stateDump: '10s',
      group: 'zone',
    });
    await gatekeeper.run('job', () => 1, { duration: '1m' });
    await removed(gatekeeper, 'gone');
    await nodes.time.advance(11_500);
    const lines = log.filter((line) => line.startsWith('log state'));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toBe('log state semaphore=gone removed revision=2');
    expect(lines[1]).toMatch(
      /^log state semaphore=job permits=2 free=1 held=\[0:zone\/app1\/[0-9a-f]{8}\(token \d+, \d+\.\ds\)\] group=\/\.\*\/ acquirer=\/\.\*\/ duration=10000ms revision=1$/,
    );
    expect(lines.join('')).not.toContain('\n');
  });

  it('is dumped with a line per scope of leadership', async () => {
    const nodes = cluster();
    const options = { definitions: [], stateDump: '10s', group: 'zone', leadership: { scopes: ['a', 'b'] } };
    const { gatekeeper, log } = await nodes.node(options);
    await gatekeeper.cluster.initialize();
    await nodes.time.advance(200);
    await gatekeeper.definitions.pause('leader:b', { by: 'ann' });
    await nodes.time.advance(11_300);
    const lines = log.filter((line) => line.startsWith('log state scope='));
    const { token } = gatekeeper.cluster.scope('a').term!;
    expect(lines).toEqual([
      expect.stringMatching(
        `^log state scope=a leader=zone/app1/[0-9a-f]{8} term=${token} since=2023-[0-9T:.-]+Z ends-in=[0-9.]+s$`,
      ),
      'log state scope=b leader=none paused-by=ann',
    ]);
  });

  it('is never dumped unless that was asked for', async () => {
    const nodes = cluster();
    const { log } = await nodes.node();
    await nodes.time.advance(600_000);
    expect(log.filter((line) => line.includes('state'))).toEqual([]);
  });
});

describe('explain', () => {
  const cluster = useCluster();

  it.each([
    ['a free slot', {}, 'granted', undefined, 'slot 0 is free: this node would get it'],
    [
      'the group',
      { groupPattern: 'dr-.*' },
      'denied',
      'group',
      'this node\'s group "default" does not match groupPattern "dr-.*" (revision 1)',
    ],
    [
      'the acquirer',
      { acquirerPattern: 'app[89]' },
      'denied',
      'acquirer',
      '"app1" does not match acquirerPattern "app[89]" (revision 1)',
    ],
    ['no permits', { permits: 0 }, 'denied', 'no-permit', 'it is off (0 permits): no new permit is granted'],
  ])('has a sentence for %s', async (_, change, outcome, reason, sentence) => {
    const { gatekeeper } = await cluster().node({ definitions: [{ ...JOB, ...change }] });
    expect(await gatekeeper.explain('job')).toMatchObject({ semaphore: 'job', outcome, sentence, revision: 1 });
    expect((await gatekeeper.explain('job')).reason).toBe(reason);
  });

  it('has a sentence for a permit that this node holds', async () => {
    const { gatekeeper } = await cluster().node();
    await gatekeeper.tryAcquire('job');
    expect(await gatekeeper.explain('job')).toMatchObject({
      outcome: 'refreshed',
      sentence: 'this node holds slot 0 and would refresh it',
      holders: [{ acquirer: 'app1' }],
    });
  });

  it('names who holds it and until when', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.tryAcquire('job');
    expect(await other.gatekeeper.explain('job')).toMatchObject({
      outcome: 'denied',
      reason: 'no-permit',
      sentence: `the only permit is held: app1 (until ${new Date(START + 10_000).toISOString()})`,
    });
  });

  it('counts them when there are several', async () => {
    const nodes = cluster();
    const options = { definitions: [{ ...JOB, permits: 2 }] };
    const [one, other] = [await nodes.node(options), await nodes.node(options)];
    for (const holder of ['a', 'b']) await one.gatekeeper.tryAcquire('job', { holder });
    expect((await other.gatekeeper.explain('job')).sentence).toMatch(/^all 2 permits are held: app1 .*, app1 /);
  });

  it('has a sentence for a name without a definition', async () => {
    const { gatekeeper } = await cluster().node();
    expect(await gatekeeper.explain('typo')).toMatchObject({
      outcome: 'denied',
      reason: 'no-definition',
      sentence: 'no definition of that name is loaded',
    });
  });

  it('says who removed a definition, and what to do', async () => {
    const { gatekeeper } = await cluster().node();
    await removed(gatekeeper, 'job', { by: 'ann', reason: 'ticket 7' });
    const { reason, sentence } = await gatekeeper.explain('job');
    expect(reason).toBe('no-definition');
    expect(sentence).toMatch(/removed by ann, 20\S+Z: ticket 7\. .*reset/);
  });

  it('and a look at its definition keep nothing of undefined names, for any number of requests', async () => {
    const { gatekeeper } = await cluster().node();
    for (let index = 0; index < 100; index++) {
      await gatekeeper.explain(`made-up-${index}`);
      await gatekeeper.definitions.get(`made-up-${index}`);
    }
    // All that is kept is closed.
    const close = jest.spyOn(NodeSemaphore.prototype, 'close');
    await gatekeeper.close();
    expect(close.mock.contexts.map((closed) => (closed as NodeSemaphore).name)).toEqual([]);
    close.mockRestore();
  });

  it('has a sentence for the grace after lost data', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    await nodes.overwrite(undefined);
    expect(await gatekeeper.explain('job')).toMatchObject({
      reason: 'recovering',
      sentence: expect.stringMatching(
        /^the store lost data, or may have: until .* \(2023-11-14T22:13:30.000Z\), only former holders go on$/,
      ),
    });
  });

  it('does not name a permit that expired', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.tryAcquire('job');
    await other.gatekeeper.explain('job');
    nodes.time.freeze(11_000);
    expect(await other.gatekeeper.explain('job')).toMatchObject({ outcome: 'granted', holders: [] });
  });

  it('writes nothing', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const before = await nodes.raw.records.read('semaphore:job');
    await gatekeeper.explain('job');
    expect(await nodes.raw.records.read('semaphore:job')).toBe(before);
  });
});
