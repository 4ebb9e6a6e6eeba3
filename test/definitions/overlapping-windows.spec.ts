import { describe, expect, it } from '@jest/globals';
import { useCluster } from '../support/nodes.js';
import { JOBS, before, pausedOf, throughout, two } from './windows.js';

describe('two windows that overlap', () => {
  const cluster = useCluster();

  it.each([
    ['the first one ends first', ['all', 'a']],
    ['the second one ends first', ['a', 'all']],
  ])('keep paused what either wants, when %s', async (_, [first, second]) => {
    const [node] = await two(cluster());
    const { maintenance } = node!.gatekeeper.definitions;
    await maintenance.start({ window: 'all', names: '.*' });
    expect(await maintenance.start({ window: 'a', names: 'a-.*' })).toMatchObject({
      paused: [],
      shared: ['a-one', 'a-two'],
      left: [],
    });
    const { left } = await maintenance.end(first!);
    expect(left).toEqual(['a-one', 'a-two'].map((name) => ({ name, why: `window "${second}" wants it paused` })));
    expect(await pausedOf(node!)).toEqual(first === 'all' ? ['a-one', 'a-two'] : JOBS.map(({ name }) => name));
    expect((await maintenance.end(second!)).left).toEqual([]);
    expect(await pausedOf(node!)).toEqual([]);
  });

  it('share what both want to pause at the same time', async () => {
    const [node, other] = await two(cluster());
    const maintenance = other!.gatekeeper.definitions.maintenance;
    // The other window pauses between this one's list and its first pause.
    before(node!, 3, () => maintenance.start({ window: 'b', names: 'a-one' }));
    const start = await node!.gatekeeper.definitions.maintenance.start({ window: 'a', names: 'a-one' });
    expect(start).toMatchObject({ paused: [], shared: ['a-one'], left: [] });
    await maintenance.end('b');
    expect(await pausedOf(node!)).toEqual(['a-one']);
    await maintenance.end('a');
    expect(await pausedOf(node!)).toEqual([]);
  });

  it('do not share with one that is ending: the start is refused until that end is complete', async () => {
    const [node] = await two(cluster());
    const { maintenance } = node!.gatekeeper.definitions;
    await maintenance.start({ window: 'all', names: '.*' });
    await maintenance.end('all', { limit: 1 });
    await expect(maintenance.start({ window: 'b', names: 'b-.*' })).rejects.toThrow('window "all" is ending');
    expect((await maintenance.list()).map(({ window }) => window)).toEqual(['all']);
    expect(await maintenance.start({ window: 'a', names: 'a-one' })).toMatchObject({ paused: ['a-one'] });
    await maintenance.end('all');
    expect(await pausedOf(node!)).toEqual(['a-one']);
  });

  it('look again when the other one ends between the look and the start', async () => {
    const [node, other] = await two(cluster());
    await other!.gatekeeper.definitions.maintenance.start({ window: 'all', names: '.*' });
    before(node!, 1, () => other!.gatekeeper.definitions.maintenance.end('all'));
    const { paused } = await node!.gatekeeper.definitions.maintenance.start({ window: 'a', names: 'a-.*' });
    expect(paused).toEqual(['a-one', 'a-two']);
    expect(await pausedOf(node!)).toEqual(['a-one', 'a-two']);
  });

  it('resume once what both end at the same time', async () => {
    const nodes = cluster();
    const [node, other] = await two(nodes);
    await node!.gatekeeper.definitions.maintenance.start({ window: 'a', names: 'a-.*' });
    await node!.gatekeeper.definitions.maintenance.start({ window: 'b', names: 'a-.*' });
    const ends = [
      node!.gatekeeper.definitions.maintenance.end('a'),
      other!.gatekeeper.definitions.maintenance.end('b'),
    ];
    await throughout(nodes, Promise.all(ends));
    expect(await pausedOf(node!)).toEqual([]);
    expect((await node!.gatekeeper.definitions.get('a-one'))?.revision).toBe(3);
  });

  it('of one name: an end wins against the start that still goes on, and nothing stays paused', async () => {
    const [node, other] = await two(cluster());
    before(node!, 3, () => other!.gatekeeper.definitions.maintenance.end('a'));
    const start = node!.gatekeeper.definitions.maintenance.start({ window: 'a', names: 'a-one' });
    await expect(start).rejects.toThrow('was ended while it started');
    expect(await pausedOf(node!)).toEqual([]);
    expect(await node!.gatekeeper.definitions.maintenance.list()).toEqual([]);
  });

  it('of one name that two operators start at once are one window', async () => {
    const nodes = cluster();
    const [node, other] = await two(nodes);
    const starts = [node!, other!].map(({ gatekeeper }) =>
      gatekeeper.definitions.maintenance.start({ window: 'a', names: 'a-.*' }),
    );
    const started = await throughout(nodes, Promise.all(starts));
    expect(new Set(started.map(({ bulk }) => bulk)).size).toBe(1);
    const { maintenance } = node!.gatekeeper.definitions;
    expect(await maintenance.get('a')).toMatchObject({ phase: 'on', semaphores: ['a-one', 'a-two'] });
    await maintenance.end('a');
    expect(await pausedOf(node!)).toEqual([]);
  });
});
