import { NoQuorumError, type SemaphoreState, StoreUnavailableError, type StoreHealth } from 'nestjs-gatekeeper';
import { partsOf } from '../../../lib/gatekeeper/index.js';
import { readLeaders } from '../../../lib/operate/insight/index.js';
import { START } from '../../support/fake-time.js';
import { removed } from '../../support/removed.js';
import { JOB, type TestNode, outcomeOf, useCluster } from '../../support/nodes.js';

/** Every call fails at once, as with a client that lost its last connection. */
const LOST = 'the connection was lost; connecting again';

function disconnect({ store }: TestNode): void {
  store.report = { connected: false, members: 0, quorum: 0, problem: LOST };
  store.script = () => Promise.reject(new StoreUnavailableError(`Not connected: ${LOST}`));
}

/** Reads are answered, writes are refused: what a client with a quorum does. */
function loseQuorum({ store }: TestNode): void {
  store.report = { connected: true, members: 1, quorum: 2 } satisfies StoreHealth;
  store.script = (call, go) =>
    call === 'compareAndSet' ? Promise.reject(new NoQuorumError('1 of at least 2 members are there')) : go();
}

/** The connection stands and nothing answers: a frozen member. */
function silence({ store }: TestNode): void {
  store.script = () => new Promise(() => undefined);
}

const NIGHTLY = { job: 'Jobs.export', semaphore: 'job' };

describe('while the store can not be asked', () => {
  const cluster = useCluster();
  const working = async () => {
    const nodes = cluster();
    await nodes.bear();
    const node = nodes.unstarted({ definitions: [JOB], definitionsDelay: 0, heartbeat: '10s', history: true });
    node.gatekeeper.registry.jobs = () => [NIGHTLY];
    await node.gatekeeper.start();
    await nodes.time.advance(0);
    await node.gatekeeper.run('job', () => 1, { job: 'Jobs.export', atLeastFor: 0 });
    await nodes.time.advance(1000);
    await node.gatekeeper.overview();
    return { nodes, ...node, node };
  };

  it('the overview is what was last known, says of each part how old it is, and why', async () => {
    const { nodes, gatekeeper, node } = await working();
    const before = await gatekeeper.overview();
    expect(before).toMatchObject({ nodes: [{ acquirer: 'app1' }] });
    expect(before).not.toHaveProperty('stale');
    await nodes.time.advance(2000);
    disconnect(node);
    await nodes.time.advance(1000);
    const overview = await gatekeeper.overview();
    const sentence = expect.stringContaining(LOST);
    expect(overview.stale).toEqual(
      ['records', 'nodes', 'runs'].map((part) => ({ part, since: START + 1000, sentence })),
    );
    expect(overview.nodes).toMatchObject([{ acquirer: 'app1' }]);
    expect(overview.semaphores).toMatchObject([
      { name: 'job', jobs: [{ job: 'Jobs.export' }], lastRun: { outcome: 'ok', at: START } },
    ]);
  });

  it('and nothing was ever read, each part says that nothing is known of it', async () => {
    const nodes = cluster();
    const node = nodes.unstarted();
    disconnect(node);
    await node.gatekeeper.start();
    const { stale, semaphores } = await node.gatekeeper.overview();
    expect(semaphores).toEqual([]);
    expect(stale?.map(({ part }) => part)).toEqual(['records', 'nodes', 'runs']);
    for (const part of stale!) expect(part).not.toHaveProperty('since');
  });

  it('the state says since when it is stale', async () => {
    const { nodes, gatekeeper, node } = await working();
    disconnect(node);
    await nodes.time.advance(3000);
    expect(await gatekeeper.state()).toMatchObject({
      store: { connected: false },
      stale: [{ part: 'records', since: START + 1000 }],
      semaphores: [{ name: 'job' }],
    });
  });

  it('the state of the last listing is shown, also of semaphores that only other nodes use', async () => {
    const nodes = cluster();
    const idle = await nodes.node({ definitions: [JOB] });
    const other = await nodes.node({ definitions: [JOB, { ...JOB, name: 'elsewhere' }], acquirer: 'app2' });
    await other.gatekeeper.semaphore('job').tryAcquire({ duration: '1h' });
    await other.gatekeeper.definitions.pause('elsewhere', { by: 'ann' });
    await nodes.time.advance(1000);
    const before = await idle.gatekeeper.state();
    await nodes.time.advance(1000);
    // Another listing, of leaders only, makes that one no newer.
    await readLeaders(partsOf(idle.gatekeeper));
    disconnect(idle);
    await nodes.time.advance(1000);
    const { stale, semaphores } = await idle.gatekeeper.state();
    expect(stale).toMatchObject([{ part: 'records', since: START + 1000 }]);
    expect((await idle.gatekeeper.checkHealth()).stale).toContainEqual(
      expect.objectContaining({ part: 'records', since: START + 1000 }),
    );
    const shown = ({ name, holders, free, pause }: SemaphoreState) => [name, holders.length, free, pause?.by];
    expect(semaphores.map(shown)).toEqual(before.semaphores.map(shown));
    expect(semaphores.map(shown)).toEqual([
      ['elsewhere', 0, expect.any(Number), 'ann'],
      ['job', 1, 0, undefined],
    ]);
  });

  it('what this node has seen since the last listing is newer', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: [JOB, { ...JOB, name: 'removed' }] });
    await node.gatekeeper.state();
    await node.gatekeeper.semaphore('job').tryAcquire({ duration: '1h' });
    await removed(node.gatekeeper, 'removed');
    disconnect(node);
    const { semaphores } = await node.gatekeeper.state();
    expect(semaphores.map(({ name, holders, definition }) => [name, holders.length, definition !== undefined])).toEqual(
      [
        ['job', 1, true],
        ['removed', 0, false],
      ],
    );
  });

  it('a frozen store is found out within one call, not at the end of a long listing', async () => {
    const { nodes, gatekeeper, node } = await working();
    silence(node);
    await nodes.time.advance(3000);
    const looking = gatekeeper.overview();
    await nodes.time.advance(2000);
    expect((await looking).stale).toHaveLength(3);
    expect(gatekeeper.health()).toMatchObject({ status: 'down', grants: false, faults: [{ code: 'store-silent' }] });
  });

  it('a store that is frozen in the moment of a listing is found out long before the listing ends', async () => {
    const { nodes, gatekeeper, node } = await working();
    await gatekeeper.overview();
    silence(node);
    const looking = gatekeeper.overview();
    await nodes.time.advance(3000);
    expect((await outcomeOf(looking)) as object).toMatchObject({
      value: { stale: [{ part: 'records' }, { part: 'nodes' }] },
    });
  });

  it('health says what is wrong, since when, how old what is shown is, and that nothing is granted', async () => {
    const { nodes, gatekeeper, node } = await working();
    expect(await gatekeeper.checkHealth()).toMatchObject({ status: 'healthy', grants: true, faults: [] });
    disconnect(node);
    await nodes.time.advance(500);
    await gatekeeper.checkHealth();
    await nodes.time.advance(2500);
    const health = await gatekeeper.checkHealth();
    expect(health).toMatchObject({
      status: 'down',
      grants: false,
      stale: [
        { part: 'records', since: START + 1000 },
        { part: 'nodes', since: START + 1000 },
        { part: 'runs', since: START + 1000 },
        { part: 'audit' },
      ],
      store: { connected: false },
      faults: [{ code: 'store-unreachable', since: START + 1500, stopsGrants: true }],
    });
    expect(health.faults[0]!.sentence).toContain(LOST);
  });

  it('a check of the health ends after 5 s, also if only the clock gives no answer', async () => {
    const nodes = cluster();
    await nodes.bear();
    const { gatekeeper, store } = nodes.unstarted({ callTimeout: '20s' });
    const unread = new StoreUnavailableError('no time');
    store.script = (call, go) => (call === 'now' ? Promise.reject(unread) : go());
    await gatekeeper.start();
    store.script = (call, go) => (call === 'now' ? new Promise(() => undefined) : go());
    const checking = gatekeeper.checkHealth();
    await nodes.time.advance(5000);
    expect(await outcomeOf(checking)).toMatchObject({ value: { status: 'down', faults: [{ code: 'clock-unread' }] } });
  });

  it('and health is well again as soon as the store answers', async () => {
    const { nodes, gatekeeper, node } = await working();
    disconnect(node);
    await nodes.time.advance(20_000);
    expect((await gatekeeper.checkHealth()).status).toBe('down');
    node.store.script = node.store.report = undefined;
    const health = await gatekeeper.checkHealth();
    expect(health).toMatchObject({ status: 'healthy', grants: true, faults: [] });
    expect(health).not.toHaveProperty('stale');
  });

  it.each([
    ['out of reach', disconnect, 'unavailable', /^nothing is granted: the store can't be reached/],
    ['without a quorum', loseQuorum, 'no-quorum', /^nothing is granted: .*1 of at least 2 members/],
  ])('explain never says granted of a store %s', async (_, fail, reason, sentence) => {
    const { nodes, gatekeeper, node } = await working();
    expect((await gatekeeper.explain('job')).outcome).toBe('granted');
    fail(node);
    await nodes.time.advance(1500);
    expect(await gatekeeper.explain('job')).toMatchObject({
      semaphore: 'job',
      outcome: 'denied',
      reason,
      sentence: expect.stringMatching(sentence),
      definition: { name: 'job' },
    });
  });

  it('a bulk change is refused as a whole, instead of failing name by name', async () => {
    const { nodes, gatekeeper, node } = await working();
    loseQuorum(node);
    await nodes.time.advance(0);
    await expect(gatekeeper.definitions.pauseAll({ names: 'job' })).rejects.toThrow(NoQuorumError);
    const to = { groupPattern: 'elsewhere' };
    await expect(gatekeeper.definitions.migrate({ names: 'job', to })).rejects.toThrow(NoQuorumError);
  });

  it('a bulk change that had begun says what it did, and leaves the rest for the next call', async () => {
    const nodes = cluster();
    const names = Array.from({ length: 100 }, (_each, index) => `job-${String(index).padStart(3, '0')}`);
    const node = await nodes.node({ definitions: names.map((name) => ({ ...JOB, name })) });
    let writes = 0;
    node.store.script = (call, go, key = '') =>
      call === 'compareAndSet' && key.startsWith('semaphore:') && ++writes > 40
        ? Promise.reject(new StoreUnavailableError('away'))
        : go();
    const { done, failed, remaining } = await node.gatekeeper.definitions.pauseAll();
    expect(done).toHaveLength(40);
    expect(failed.length).toBeLessThanOrEqual(32);
    expect(done.length + failed.length + remaining).toBe(100);
    node.store.script = undefined;
  });
});

describe('a node that read no clock before its first connection', () => {
  const cluster = useCluster();

  it('reads it for the first report after the connection, which says that permits are granted', async () => {
    const nodes = cluster();
    await nodes.bear();
    const node = nodes.unstarted({ definitions: [JOB], heartbeat: 0, sweepInterval: '1h' });
    disconnect(node);
    await node.gatekeeper.start();
    await nodes.time.advance(100);
    expect(node.gatekeeper.health()).toMatchObject({ grants: false });
    node.store.report = undefined;
    node.store.script = undefined;
    expect(await partsOf(node.gatekeeper).health.check()).toMatchObject({ grants: true, faults: [] });
  });
});
