import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { useCluster } from '../../support/nodes.js';
import { JOBS, before, pausedOf, throughout, two } from './windows.js';

describe('a window that ends while it starts', () => {
  const cluster = useCluster();

  it.each([3, 4, 5, 6, 7, 8])(
    'leaves nothing paused if the starting process dies right after write %d',
    async (write) => {
      const nodes = cluster();
      const [node, other] = await two(nodes);
      const { maintenance } = other!.gatekeeper.definitions;
      let [count, last] = [0, write];
      let ending: Promise<unknown> | undefined;
      let hasDied = false;
      node!.store.script = async (call, go) => {
        const ordinal = call === 'compareAndSet' ? ++count : 0;
        if (hasDied || ordinal > last) throw new StoreUnavailableError('dead');
        if (ordinal < last) return go();
        await (ending ??= throughout(nodes, maintenance.end('db')));
        const isWritten = await go();
        hasDied = isWritten === true;
        // It dies after its next try.
        if (!hasDied) last = count + 1;
        return isWritten;
      };
      const starting = node!.gatekeeper.definitions.maintenance.start({ window: 'db', names: '.*' });
      // It dies, or learns that the window has ended.
      await throughout(
        nodes,
        starting.catch(() => undefined),
      );
      expect(ending).toBeDefined();
      expect([await pausedOf(other!), await maintenance.list()]).toEqual([[], []]);
    },
  );
});

describe('a window whose semaphore a person edits before its pause', () => {
  const cluster = useCluster();

  it('leaves nothing paused if it also ends, and the starting process dies', async () => {
    const nodes = cluster();
    const [node, other] = await two(nodes);
    const { definitions } = other!.gatekeeper;
    let hasDied = false;
    let [count, meddling]: [number, Promise<unknown> | undefined] = [0, undefined];
    node!.store.script = async (call, go) => {
      const ordinal = call === 'compareAndSet' ? ++count : 0;
      if (hasDied) throw new StoreUnavailableError('dead');
      // The fifth write is the first pause.
      if (ordinal < 5) return go();
      const meddle = async () => {
        for (const { name } of JOBS) await definitions.edit(name, { duration: '7m' });
        await definitions.maintenance.end('db');
      };
      meddling ??= throughout(nodes, meddle());
      await meddling;
      const isWritten = await go();
      hasDied = isWritten === true;
      return isWritten;
    };
    const starting = node!.gatekeeper.definitions.maintenance.start({ window: 'db', names: '.*' });
    await throughout(
      nodes,
      starting.catch(() => undefined),
    );
    expect(meddling).toBeDefined();
    expect([await pausedOf(other!), await definitions.maintenance.list()]).toEqual([[], []]);
  });

  it('says so, and pauses it when it is started again', async () => {
    const [node, other] = await two(cluster());
    const { maintenance } = node!.gatekeeper.definitions;
    before(node!, 5, () => other!.gatekeeper.definitions.edit('a-one', { duration: '7m' }, { by: 'bob' }));
    const { paused, left } = await maintenance.start({ window: 'a', names: 'a-.*' });
    expect([paused, left.map(({ name }) => name)]).toEqual([['a-two'], ['a-one']]);
    expect(left[0]!.why).toContain('bob');
    expect((await maintenance.start({ window: 'a', names: 'a-.*' })).paused).toEqual(['a-one']);
    await maintenance.end('a');
    expect(await pausedOf(node!)).toEqual([]);
  });
});

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
    before(node!, 5, () => maintenance.start({ window: 'b', names: 'a-one' }));
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
    before(node!, 5, () => other!.gatekeeper.definitions.maintenance.end('a'));
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
