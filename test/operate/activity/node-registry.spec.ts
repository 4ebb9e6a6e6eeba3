import { hostname } from 'node:os';
import { DefinedInCodeError, StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import type { NodeClock } from '../../../lib/core/async/node-clock.js';
import { START } from '../../support/fake-time.js';
import { type TestCluster, type TestNode, useCluster } from '../../support/nodes.js';
import { allTexts } from '../../../lib/core/store/paging.js';

const living = (nodes: TestCluster, options = {}) => nodes.node({ heartbeat: '10s', ...options });

async function names(node: { gatekeeper: { registry: { nodes(): Promise<{ acquirer: string }[]> } } }) {
  return (await node.gatekeeper.registry.nodes()).map(({ acquirer }) => acquirer);
}

async function cardText(nodes: TestCluster, { gatekeeper }: TestNode): Promise<{ instance: string; at: number }> {
  const texts = [...(await allTexts(nodes.raw.records, 'nodes:')).values()].map((text) => JSON.parse(text));
  return texts.flatMap(({ nodes: cards }) => cards).find(({ instance }) => instance === gatekeeper.node.instance);
}

describe('the registry of nodes', () => {
  const cluster = useCluster();

  it('has a card of each node that lives, by group and name', async () => {
    const nodes = cluster();
    const last = await living(nodes, { group: 'z', acquirer: 'app0' });
    const first = await living(nodes, { group: 'a', acquirer: 'app9', version: '1.2.3', application: 'shop' });
    first.gatekeeper.registry.jobs = () => [{ job: 'Jobs.work', semaphore: 'job' }];
    expect(await last.gatekeeper.registry.nodes()).toEqual([
      {
        ...first.gatekeeper.node,
        host: hostname(),
        pid: process.pid,
        version: '1.2.3',
        application: 'shop',
        startedAt: START,
        at: START,
        heartbeat: 10_000,
        clock: { offset: 0 },
        history: false,
        jobs: [],
      },
      expect.objectContaining(last.gatekeeper.node),
    ]);
    await nodes.time.advance(11_000);
    const [card] = await last.gatekeeper.registry.nodes();
    expect(card).toMatchObject({ startedAt: START, jobs: [{ job: 'Jobs.work', semaphore: 'job' }] });
    expect(card!.at).toBeGreaterThan(START);
  });

  it('loses the card of a node that closes, at once', async () => {
    const nodes = cluster();
    const [one, other] = [await living(nodes), await living(nodes)];
    expect(await names(other)).toEqual(['app1', 'app2']);
    await one.gatekeeper.close();
    expect(await names(other)).toEqual(['app2']);
  });

  it('loses the card of a node that died, after three heartbeats', async () => {
    const nodes = cluster();
    const [one, other] = [await living(nodes), await living(nodes)];
    one.store.script = () => Promise.reject(new StoreUnavailableError('dead'));
    await nodes.time.advance(29_999);
    expect(await names(other)).toEqual(['app1', 'app2']);
    await nodes.time.advance(1);
    expect(await names(other)).toEqual(['app2']);
    one.store.script = undefined;
    await nodes.time.advance(11_000);
    expect(await names(other)).toEqual(['app1', 'app2']);
  });

  it('keeps the definitions in the code of many nodes once per text, however many nodes have them', async () => {
    const nodes = cluster();
    const definitions = Array.from({ length: 200 }, (_, index) => ({ name: `job-${index}`, duration: '10s' }));
    const charactersOf = async (count: number) => {
      const added = Array.from({ length: count }, () => living(nodes, { definitions, sweepInterval: 1_000_000 }));
      await Promise.all(added);
      await nodes.time.advance(11_000);
      return [...(await allTexts(nodes.raw.records, 'nodes:')).values()].join('').length;
    };
    const few = await charactersOf(40);
    // Without sharing, each node has 4,000 characters of code.
    expect((await charactersOf(40)) - few).toBeLessThan(40 * 1000);
    const one = await living(nodes, { definitions: [] });
    await expect(one.gatekeeper.definitions.remove('job-7')).rejects.toThrow(DefinedInCodeError);
  });

  it('forgets dead nodes in the store, too', async () => {
    const nodes = cluster();
    const many = await Promise.all(Array.from({ length: 20 }, () => living(nodes)));
    for (const { store } of many) store.script = () => Promise.reject(new StoreUnavailableError('dead'));
    await nodes.time.advance(60_000);
    const survivors = await Promise.all(Array.from({ length: 20 }, () => living(nodes)));
    const texts = [...(await allTexts(nodes.raw.records, 'nodes:')).values()].join('');
    const dead = many.filter(({ gatekeeper }) => texts.includes(gatekeeper.node.instance));
    expect(survivors.every(({ gatekeeper }) => texts.includes(gatekeeper.node.instance))).toBe(true);
    expect(dead.length).toBeLessThan(20);
  });

  it('takes a text that can not be read for no nodes, and writes it anew', async () => {
    const nodes = cluster();
    const one = await living(nodes);
    for (const [key, text] of await allTexts(nodes.raw.records, 'nodes:')) {
      await nodes.raw.records.compareAndSet(key, text, '{"v":1,"nodes":[{"group":7}]}');
    }
    expect(await names(one)).toEqual([]);
    await nodes.time.advance(11_000);
    expect(await names(one)).toEqual(['app1']);
  });

  it('holds all of many nodes that begin at once', async () => {
    const nodes = cluster();
    const many = await Promise.all(Array.from({ length: 40 }, () => living(nodes)));
    await nodes.time.advance(11_000);
    expect(await names(many[0]!)).toHaveLength(40);
  });

  it.each<[string, boolean]>([
    ['was applied', true],
    ['was not applied', false],
  ])('looks for a card whose answer was lost, and reports nothing, if it %s', async (_, isApplied) => {
    const nodes = cluster();
    const other = await living(nodes);
    const late = nodes.unstarted({ heartbeat: '10s' });
    let lost = 0;
    late.store.script = async (call, go, key) => {
      if (call !== 'compareAndSet' || !key?.startsWith('nodes:') || lost > 0) return go();
      lost++;
      if (isApplied) await go();
      throw new UnknownOutcomeError('no answer');
    };
    await late.gatekeeper.start();
    await nodes.time.advance(100);
    expect(lost).toBe(1);
    expect(await names(other)).toHaveLength(2);
    expect(late.of('problem')).toEqual([]);
  });

  it('lists a node as soon as the store is there, if it was not when the node began', async () => {
    const nodes = cluster();
    const late = nodes.unstarted({ heartbeat: '10s' });
    late.store.script = () => Promise.reject(new StoreUnavailableError('not yet'));
    const other = await living(nodes);
    await late.gatekeeper.start();
    await nodes.time.advance(2000);
    late.store.script = undefined;
    await nodes.time.advance(600);
    expect(await names(other)).toHaveLength(2);
  });

  it('has true times of a node whose own clock is wrong and which had no store at first, and keeps the others', async () => {
    const nodes = cluster();
    // More than one node for each text: then the new node writes a text that has others.
    const others = await Promise.all(Array.from({ length: 40 }, () => living(nodes)));
    const { time } = nodes;
    const clock: NodeClock = {
      monotonic: () => time.monotonic(),
      wall: () => time.wall() + 3_600_000,
      schedule: (work, delay) => time.schedule(work, delay),
      nextTurn: (work) => time.nextTurn(work),
    };
    const late = nodes.unstarted({ heartbeat: '10s' }, clock);
    late.store.script = () => Promise.reject(new StoreUnavailableError('not yet'));
    await late.gatekeeper.start();
    await time.advance(300);
    late.store.script = undefined;
    await time.advance(700);
    const listed = await others[0]!.gatekeeper.registry.nodes();
    expect(listed).toHaveLength(41);
    const { at, startedAt } = listed.find(({ instance }) => instance === late.gatekeeper.node.instance)!;
    // Each of the two clocks that it is counted from is rounded.
    expect(Math.abs(startedAt - START)).toBeLessThanOrEqual(1);
    expect(at).toBeGreaterThan(START);
    expect(at).toBeLessThanOrEqual(START + 1000);
    expect(await late.gatekeeper.registry.nodes()).toHaveLength(41);
  });

  it('says why clocks can not be trusted there', async () => {
    const nodes = cluster();
    const [one, other] = [await living(nodes), await living(nodes)];
    nodes.time.jumpWall(-60_000);
    await nodes.time.advance(40_000);
    const [card] = await other.gatekeeper.registry.nodes();
    expect(card!.clock).toEqual({ offset: 60_000, suspect: expect.stringMatching(/clock/) });
    expect(one.of('clock-suspect')).toHaveLength(1);
  });

  it('is without a node that has no heartbeat, which can read it all the same', async () => {
    const nodes = cluster();
    const [silent] = [await nodes.node({ heartbeat: 0 }), await living(nodes)];
    await nodes.time.advance(60_000);
    expect(await names(silent)).toEqual(['app2']);
  });

  it('can not be read while the store is away, and says nothing of that by itself', async () => {
    const nodes = cluster();
    const { gatekeeper, store, of } = await living(nodes);
    store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await expect(gatekeeper.registry.nodes()).rejects.toThrow(StoreUnavailableError);
    store.health = () => ({ connected: false, members: 0, quorum: 0 });
    await nodes.time.advance(30_000);
    expect(of('problem').filter(({ action }) => action === 'publish this node')).toEqual([]);
  });

  it('has the entry of a participant written only when it has changed, and once a minute', async () => {
    const nodes = cluster();
    const one = await living(nodes, { membership: {}, sweepInterval: '1h' });
    await nodes.time.advance(11_000);
    /** The times of the entry that is there now, and of those that are written within so many ms. */
    const timesWithin = async (ms: number) => {
      const ats = new Set([(await cardText(nodes, one)).at]);
      for (let passed = 0; passed < ms; passed += 1000) {
        await nodes.time.advance(1000);
        ats.add((await cardText(nodes, one)).at);
      }
      return [...ats];
    };
    expect(await cardText(nodes, one)).toMatchObject({ lease: 10_000, heartbeat: 60_000 });
    const times = await timesWithin(170_000);
    const gaps = times.slice(1).map((at, i) => at - times[i]!);
    // The first heartbeat after a minute writes it: heartbeats are 9 to 11 s apart. Times are rounded to a ms.
    expect(gaps.filter((gap) => gap < 59_999 || gap > 71_001)).toEqual([]);
    expect(gaps.length).toBeGreaterThanOrEqual(2);
    one.gatekeeper.registry.jobs = () => [{ job: 'Jobs.work', semaphore: 'job' }];
    expect(await timesWithin(12_000)).toHaveLength(2);
    expect(await cardText(nodes, one)).toMatchObject({ jobs: [{ job: 'Jobs.work' }] });
  });

  it.each([0, 100, 2000])('loses a participant that crashed %d ms after its start with its membership', async (age) => {
    const nodes = cluster();
    const one = await living(nodes, { membership: {} });
    await nodes.time.advance(20_000);
    const other = await living(nodes, { membership: {} });
    await nodes.time.advance(age);
    expect(await names(one)).toEqual(['app1', 'app2']);
    other.store.script = () => Promise.reject(new StoreUnavailableError('dead'));
    await nodes.time.advance(11_500);
    expect(await names(one)).toEqual(['app1']);
  });

  it('has the lease of a node that joins later at once, as one that takes part in leadership', async () => {
    const nodes = cluster();
    const one = await living(nodes);
    await nodes.time.advance(3000);
    expect(await cardText(nodes, one)).not.toHaveProperty('lease');
    await one.gatekeeper.membership.start();
    await nodes.time.advance(100);
    expect(await cardText(nodes, one)).toMatchObject({ lease: 10_000 });
  });

  it('loses a participant that crashed with its membership, although its entry is written rarely', async () => {
    const nodes = cluster();
    const options = { membership: {} };
    const [one, other, plain] = [await living(nodes, options), await living(nodes, options), await living(nodes)];
    await nodes.time.advance(11_000);
    expect(await names(one)).toEqual(['app1', 'app2', 'app3']);
    other.store.script = () => Promise.reject(new StoreUnavailableError('dead'));
    await nodes.time.advance(11_500);
    expect(await names(one)).toEqual(['app1', 'app3']);
    expect(await names(plain)).toEqual(['app1', 'app2', 'app3']);
    other.store.script = undefined;
    await nodes.time.advance(1000);
    expect(await names(one)).toEqual(['app1', 'app2', 'app3']);
    other.store.script = () => Promise.reject(new StoreUnavailableError('dead'));
    await nodes.time.advance(181_000);
    expect(await names(plain)).toEqual(['app1', 'app3']);
  });
});
