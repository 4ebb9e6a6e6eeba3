import { type OwnersChange, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { kill } from '../support/members.js';
import { type TestCluster, useCluster } from '../support/nodes.js';
import { BEGIN, CRASH, type Owner, letters, pass, sharesOf, sizesOf, startOwner } from './groups.js';

const HISTORY = { history: true };
/** ms after which entries of the history are written. */
const WRITTEN = 200;

/** "given b from app1 to app2: balance" of each move of a change. */
const movesOf = ({ moves }: OwnersChange): string[] =>
  moves.map(({ step, resources, from = '-', to = '-', why }) => `${step} ${resources.join('')} ${from}>${to} ${why}`);

/** The changes of the group as an owner reads them, the oldest first. */
async function changesAt(nodes: TestCluster, { group }: Owner): Promise<OwnersChange[]> {
  await nodes.time.advance(WRITTEN);
  return [...(await group.moves()).changes].toReversed();
}

/** All moves since there were so many changes. */
async function movesSince(nodes: TestCluster, owner: Owner, count: number): Promise<string[]> {
  return (await changesAt(nodes, owner)).slice(count).flatMap(movesOf);
}

describe('the history of owners', () => {
  const cluster = useCluster();

  /** app1, which leads, and app2 own three resources each. */
  async function two(resources: () => string[] = () => letters('abcdef')) {
    const nodes = cluster();
    const one = await startOwner(nodes, { resources }, HISTORY);
    await pass(nodes, [one], BEGIN, () => sizesOf([one])[0] === resources().length);
    const owners = [one, await startOwner(nodes, { resources }, HISTORY)] as const;
    await pass(nodes, owners, BEGIN, () => sizesOf(owners)[1] === resources().length / 2);
    const { length } = await changesAt(nodes, one);
    return { nodes, owners, one, other: owners[1], length };
  }

  it('says how a group began, and that a node which joined took resources from another', async () => {
    const { nodes, one, other } = await two();
    const changes = await changesAt(nodes, other);
    expect(changes.map(({ kind, total }) => `${kind} ${total}`)).toEqual([
      'restored 0',
      'confirmed 6',
      'moved 3',
      'moved 3',
    ]);
    const taken = sharesOf([other]);
    expect(changes.flatMap(movesOf)).toEqual([
      'given abcdef ->app1 no-owner',
      `taken ${taken} app1>- balance`,
      `given ${taken} app1>app2 balance`,
    ]);
    const versions = changes.map(({ version }) => version);
    expect(versions).toEqual(versions.toSorted((before, after) => before - after));
    expect(changes.map(({ node }) => node.acquirer)).toEqual(['app1', 'app1', 'app1', 'app1']);
    expect(changes[3]!.at).toBeGreaterThan(changes[1]!.at);
    expect(await changesAt(nodes, one)).toEqual(changes);
  });

  it('tells a pin, a drain and a resource that is gone', async () => {
    let resources = letters('abcdef');
    const { nodes, owners, one, other, length } = await two(() => resources);
    const pinned = sharesOf([one])[0]!;
    await one.group.pin(pinned, 'app2');
    await pass(nodes, owners, 2000, () => other.group.owns(pinned));
    expect(await movesSince(nodes, one, length)).toEqual(
      expect.arrayContaining([`taken ${pinned} app1>- pinned`, `given ${pinned} app1>app2 pinned`]),
    );
    const drained = (await changesAt(nodes, one)).length;
    await one.group.drain('app1');
    await pass(nodes, owners, 5000, () => sizesOf([other])[0] === 6);
    const all = await movesSince(nodes, one, drained);
    expect(all.at(-1)).toMatch(/^given \w+ app1>app2 drained$/);
    const gone = (await changesAt(nodes, one)).length;
    resources = letters('abcde');
    await one.group.rebalance();
    await pass(nodes, owners, 5000, () => sizesOf([other])[0] === 5);
    expect(await movesSince(nodes, one, gone)).toEqual(['taken f app2>- removed']);
  });

  it('tells a node that shut down from one that crashed', async () => {
    const { nodes, owners, one, other, length } = await two();
    const third = await startOwner(nodes, {}, HISTORY);
    await pass(nodes, [...owners, third], BEGIN, () => sizesOf([third])[0] === 2);
    const before = (await changesAt(nodes, one)).length;
    expect(before).toBeGreaterThan(length);
    const left = sharesOf([other]);
    await nodes.closeOne(other);
    await pass(nodes, [one, third], 5000, () => sizesOf([one, third]).join() === '3,3');
    const leaving = await movesSince(nodes, one, before);
    const given = (id: string) => expect.stringMatching(`^given ${id} app2>app[13] leaving$`);
    expect(leaving.toSorted()).toEqual([given(left[0]!), given(left[1]!)]);
    const crashed = (await changesAt(nodes, one)).length;
    const lost = sharesOf([third]);
    kill(third);
    await pass(nodes, [one], CRASH, () => sizesOf([one])[0] === 6);
    expect(await movesSince(nodes, one, crashed)).toEqual([`given ${lost} app3>app1 owner-gone`]);
  });

  it('tells a node that was restarted from its former process', async () => {
    const { nodes, one, other } = await two();
    const { length } = await changesAt(nodes, one);
    const kept = sharesOf([other]);
    kill(other);
    const again = await startOwner(nodes, {}, { ...HISTORY, acquirer: 'app2' });
    await pass(nodes, [one, again], CRASH + BEGIN, () => sizesOf([one, again]).join() === '3,3');
    const moves = (await changesAt(nodes, one)).slice(length).flatMap((change) => change.moves);
    const returned = moves.filter(({ from, to }) => from === 'app2' && to === 'app2');
    const [fromInstance, toInstance] = [other, again].map(({ gatekeeper }) => gatekeeper.node.instance);
    const reason = 'stays with app2, in another process: the former one is gone';
    // Before its lease was over, one may have been taken from the former process for balance.
    expect(returned.filter(({ why }) => why !== 'balance')).toMatchObject([{ step: 'given', reason }]);
    for (const move of returned) expect(move).toMatchObject({ fromInstance, toInstance });
    expect(letters(kept)).toEqual(expect.arrayContaining(returned.flatMap(({ resources }) => [...resources])));
  });

  it('names the former owner and the reason also if another node leads meanwhile', async () => {
    const nodes = cluster();
    const busy = { release: () => {} };
    const onAllocated = async (_: unknown, { revoked }: { revoked: readonly unknown[] }) =>
      revoked.length > 0 ? new Promise<void>((resolve) => (busy.release = resolve)) : undefined;
    const one = await startOwner(nodes, {}, HISTORY);
    const other = await startOwner(nodes, { onAllocated, handoverTimeout: '60s' }, HISTORY);
    await pass(nodes, [one, other], 2 * BEGIN, () => sizesOf([one, other]).join() === '3,3');
    const { length } = await changesAt(nodes, one);
    const given = sharesOf([other]);
    await one.group.drain('app2');
    await pass(nodes, [one, other], 5000, () => sharesOf([other]) === '');
    const closing = one.gatekeeper.close();
    await nodes.time.advance(5000);
    await closing;
    busy.release();
    const third = await startOwner(nodes, {}, HISTORY);
    await pass(nodes, [other, third], BEGIN, () => sizesOf([third])[0] === 6);
    expect(await movesSince(nodes, other, length)).toEqual(
      expect.arrayContaining([`taken ${given} app2>- drained`, `given ${given} app2>app3 drained`]),
    );
  });

  it('gets nothing while owners stay', async () => {
    const { nodes, owners } = await two();
    const appends = () => owners.map(({ store }) => store.calls.append);
    const before = appends();
    await pass(nodes, owners, 120_000);
    expect(appends()).toEqual(before);
  });

  it('has one entry per change, however many resources move', async () => {
    const resources = () => Array.from({ length: 10_000 }, (_, index) => `resource-${index}`);
    const { nodes, one, other } = await two(resources);
    const changes = await changesAt(nodes, one);
    expect(changes.map(({ total }) => total)).toEqual([0, 10_000, 5000, 5000]);
    for (const { moves } of changes.slice(1)) expect(moves[0]!.resources).toHaveLength(50);
    expect((await other.group.moves({ resource: 'resource-' })).unnamed).toBe(3);
    expect(JSON.stringify(changes).length).toBeLessThan(10_000);
  });

  it('finds the moves of a resource and of a node', async () => {
    const { nodes, owners, one, other, length } = await two();
    const pinned = sharesOf([one])[0]!;
    await one.group.pin(pinned, 'app2');
    await pass(nodes, owners, 5000, () => sizesOf(owners).join() === '3,3' && other.group.owns(pinned));
    await nodes.time.advance(WRITTEN);
    const ofResource = await one.group.moves({ resource: pinned });
    expect(ofResource.unnamed).toBe(0);
    expect(ofResource.changes.flatMap(movesOf)).toEqual([
      `given ${pinned} app1>app2 pinned`,
      `taken ${pinned} app1>- pinned`,
      `given ${pinned} ->app1 no-owner`,
    ]);
    const ofNode = await one.group.moves({ node: 'app2' });
    expect(ofNode.changes.length).toBeGreaterThan(0);
    for (const move of ofNode.changes.flatMap(movesOf)) expect(move).toContain('app2');
    expect((await one.group.moves({ limit: 1 })).changes).toHaveLength(1);
    expect((await one.group.moves({ node: 'app9' })).changes).toEqual([]);
    expect((await changesAt(nodes, one)).length).toBeGreaterThan(length);
  });

  it('has a change whose answer was lost', async () => {
    const { nodes, owners, one, other, length } = await two();
    const root = () => nodes.raw.records.read('allocation:root:queues');
    let lost = 0;
    one.store.script = async (call, go) => {
      const before = await root();
      const answer = await go();
      if (call !== 'compareAndSet' || lost > 0 || (await root()) === before) return answer;
      lost++;
      throw new UnknownOutcomeError('the answer is lost');
    };
    await one.group.drain('app2');
    await pass(nodes, owners, 10_000, () => sizesOf([one])[0] === 6);
    expect(lost).toBe(1);
    const moves = await movesSince(nodes, other, length);
    expect(moves.map((move) => move.split(' ')[0])).toEqual(['taken', 'given']);
  });

  it('is not written with the option `history: false`, and of another group none is read', async () => {
    const nodes = cluster();
    const one = await startOwner(nodes);
    await pass(nodes, [one], BEGIN, () => sharesOf([one]) === 'abcdef');
    const other = await startOwner(nodes, { name: 'Other Queues' }, HISTORY);
    await nodes.closeOne(one);
    await pass(nodes, [other], 2 * BEGIN, () => sharesOf([other]) === 'abcdef');
    expect(one.store.calls.append).toBe(0);
    expect((await changesAt(nodes, other)).map(({ group }) => group)).toEqual(['Other Queues', 'Other Queues']);
  });
});
