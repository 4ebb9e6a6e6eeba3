import {
  type Allocated,
  type AllocationGroup,
  GroupExistsError,
  InvalidOptionsError,
  UnknownGroupError,
  memory,
  parseGatekeeperOptions,
} from 'nestjs-gatekeeper';
import { groupSchema } from '../../lib/allocation/group-options.js';
import { useCluster } from '../support/nodes.js';
import {
  BEGIN,
  CRASH,
  GROUP,
  type Owner,
  letters,
  pass,
  sharesOf,
  sizesOf,
  startOwner,
  startOwners,
} from './groups.js';

/** Fault of the last reading, as an operator sees it on this node. */
const faultsAt = async ({ group }: Owner) => (await group.overview()).faults.join('\n');

describe('the resources of a group', () => {
  const cluster = useCluster();

  it('are those of the last reading, and only other content is a change', async () => {
    const nodes = cluster();
    let url = 'old';
    const items = { resources: () => [{ id: 'a', url }], id: (item: { id: string }) => item.id, refreshInterval: '5s' };
    const one = await startOwner(nodes, items as object);
    const group = one.group as AllocationGroup<unknown> as AllocationGroup<{ url: string }>;
    const urlsOf = (owned: readonly Allocated<{ url: string }>[]) => owned.map(({ resource }) => resource?.url).join();
    await pass(nodes, [one], 2 * BEGIN, () => urlsOf(group.owned()) === 'old');
    const seen: string[] = [];
    group.owned$.subscribe((owned) => seen.push(urlsOf(owned)));
    await pass(nodes, [one], 20_000);
    expect(seen).toEqual(['old']);
    url = 'new';
    await pass(nodes, [one], 20_000);
    expect(urlsOf(group.owned())).toBe('new');
    expect(seen).toEqual(['old', 'new']);
  });

  it.each([
    ['duplicates', () => ['a', 'b', 'a'], 'resources[2]: '],
    ['100,001 items', () => Array.from({ length: 100_001 }, (_, at) => `r${at}`), 'resources: 100001 '],
    ['an id of 1 MB', () => ['x'.repeat(1_000_000)], 'resources[0]: "x'],
    ['an id that is no text', () => [7 as unknown as string], 'resources[0]: 7 '],
    ['no list', () => 7 as unknown as string[], 'resources: 7 '],
    ['a rejection', () => Promise.reject(new Error('the database is down')), 'the database is down'],
  ])('stay as they were while they are read with %s, and that is said', async (_, bad, fault) => {
    const nodes = cluster();
    let resources: () => string[] | Promise<string[]> = () => letters('abcdef');
    const owners = await startOwners(nodes, 2, { resources: () => resources() });
    resources = bad;
    for (const { group } of owners) await group.rebalance();
    await pass(nodes, owners, CRASH);
    expect(sizesOf(owners)).toEqual([3, 3]);
    for (const owner of owners) expect(await faultsAt(owner)).toContain(fault);
    expect(owners[0]!.of('problem').filter(({ action }) => action === 'read the resources')).toHaveLength(1);
    resources = () => letters('abcdefgh');
    await owners[0]!.group.rebalance();
    await pass(nodes, owners, 3000, () => sizesOf(owners).join() === '4,4');
    expect(await faultsAt(owners[0]!)).toBe('');
  });

  it.each([
    ['empty', ''],
    ['less than half of them', 'ab'],
  ])('that are suddenly %s change nothing until they are read so twice', async (_, left) => {
    const nodes = cluster();
    let resources = letters('abcdef');
    const owners = await startOwners(nodes, 2, { resources: () => resources, refreshInterval: '1h' });
    resources = letters(left);
    await owners[0]!.group.rebalance();
    await pass(nodes, owners, 5000);
    expect(sizesOf(owners)).toEqual([3, 3]);
    const faults = (await Promise.all(owners.map(faultsAt))).join('\n');
    expect(faults).toContain(`${left.length} of 6`);
    await owners[0]!.group.rebalance();
    await pass(nodes, owners, 3000, () => sharesOf(owners).length === left.length + 1);
  });

  it('may be none from the start, and more than none later', async () => {
    const nodes = cluster();
    let resources: string[] = [];
    const owners = [
      await startOwner(nodes, { resources: () => resources }),
      await startOwner(nodes, { resources: () => resources }),
    ];
    await pass(nodes, owners, BEGIN);
    expect(owners.flatMap((owner) => owner.of('resources-unowned'))).toEqual([]);
    resources = letters('abcd');
    await owners[0]!.group.rebalance();
    await pass(nodes, owners, 3000, () => sizesOf(owners).join() === '2,2');
  });

  it('may be fewer than the nodes', async () => {
    const nodes = cluster();
    const all: Owner[] = [];
    for (let each = 0; each < 4; each++) all.push(await startOwner(nodes, { resources: () => ['a', 'b'] }));
    await pass(nodes, all, 2 * BEGIN, () => sizesOf(all).join() === '1,1,0,0');
  });

  it('that differ between nodes are those of the leader, and that is a warning', async () => {
    const nodes = cluster();
    const one = await startOwner(nodes);
    const owners = [one, await startOwner(nodes, { resources: () => letters('abcdefxyz') })];
    await pass(nodes, owners, 2 * BEGIN, () => sizesOf(owners).join() === '3,3');
    expect((await Promise.all(owners.map(faultsAt))).join('')).toBe('');
    await pass(nodes, owners, 60_000);
    expect((await Promise.all(owners.map(faultsAt))).join('\n')).toContain('node "app2"');
  });

  it('that this node does not know come without a value', async () => {
    const nodes = cluster();
    const one = await startOwner(nodes);
    const other = await startOwner(nodes, { resources: () => letters('abc') });
    await pass(nodes, [one, other], 2 * BEGIN, () => sizesOf([one, other]).join() === '3,3');
    for (const { id, resource } of other.group.owned())
      expect(resource).toBe(letters('abc').includes(id) ? id : undefined);
  });

  it('that this node does not know yet get their value as soon as this node has read them', async () => {
    const nodes = cluster();
    let known: string[] = [];
    const one = await startOwner(nodes);
    const other = await startOwner(nodes, { resources: () => known, refreshInterval: '20s' });
    const valuesOf = (list: readonly { resource: string | undefined }[]) => list.map(({ resource }) => resource);
    let seen: (string | undefined)[] = [];
    other.group.owned$.subscribe((owned) => (seen = valuesOf(owned)));
    await pass(nodes, [one, other], 2 * BEGIN, () => sizesOf([one, other]).join() === '3,3');
    expect(seen).toContain(undefined);
    known = letters('abcdef');
    await pass(nodes, [one, other], 25_000);
    expect(valuesOf(other.group.owned())).toEqual(other.group.owned().map(({ id }) => id));
    expect(seen).toEqual(valuesOf(other.group.owned()));
  });

  it('with a strategy that gives a wrong result stay where they are, and that is reported', async () => {
    const nodes = cluster();
    let isWrong = false;
    const strategy = ({
      resources,
      participants,
    }: {
      resources: readonly string[];
      participants: readonly { id: string }[];
    }) =>
      isWrong
        ? [['nothing', 'no node'] as const]
        : resources.map((id, at) => [id, participants[at % participants.length]!.id] as const);
    const owners = [await startOwner(nodes, { strategy }), await startOwner(nodes, { strategy })];
    await pass(nodes, owners, 2 * BEGIN, () => sizesOf(owners).join() === '3,3');
    isWrong = true;
    owners.push(await startOwner(nodes, { strategy }));
    await pass(nodes, owners, 5000);
    expect(sizesOf(owners)).toEqual([3, 3, 0]);
    const problems = owners.flatMap((owner) => owner.of('problem'));
    expect(problems[0]).toMatchObject({ action: 'allocate', error: { code: 'invalid-strategy' } });
  });
});

describe('the options of a group', () => {
  const cluster = useCluster();
  const valid = { name: 'g', resources: () => [], id: String };
  const faultsOf = (allocation: unknown): string => {
    try {
      parseGatekeeperOptions({ store: memory(), allocation: allocation as never });
      return '';
    } catch (error) {
      return (error as InvalidOptionsError).message;
    }
  };

  it.each([
    ['two groups of one name', { groups: [valid, valid] }, 'allocation.groups: has two groups of one name'],
    [
      'no resources',
      { groups: [{ name: 'g', id: String }] },
      'allocation.groups.0.resources: is missing: give a function',
    ],
    ['no id', { groups: [{ name: 'g', resources: () => [] }] }, 'allocation.groups.0.id: is missing'],
    ['a weight of 1.5', { groups: [{ ...valid, weight: 1.5 }] }, '1.5 is not a whole number from 0 to 1000'],
    [
      'an unknown strategy',
      { groups: [{ ...valid, strategy: 'random' }] },
      '"random" is not "sticky", "even" or a function',
    ],
    ['a misspelt option', { groups: [{ ...valid, wieght: 1 }] }, 'wieght: '],
    ['no list', { groups: 7 }, '7 is not a list of groups'],
  ])('are refused with %s', (_, allocation, fault) => {
    expect(faultsOf(allocation)).toContain(fault);
  });

  it('refuse the scope of the allocation as a scope of the application', () => {
    const options = { store: memory(), leadership: { scopes: ['allocation'] } };
    expect(() => parseGatekeeperOptions(options)).toThrow(
      '"allocation" is reserved for the scope that divides resources',
    );
  });

  it('make a group that is unknown, or exists already, a clear error', async () => {
    const nodes = cluster();
    const { gatekeeper } = await startOwner(nodes);
    expect(() => gatekeeper.allocation.group('other')).toThrow(UnknownGroupError);
    expect(() => gatekeeper.allocation.group('other')).toThrow(
      '"other" is no allocation group of this node (it has "queues")',
    );
    const settings = groupSchema.parse({ resources: () => [], id: String });
    expect(() => gatekeeper.allocation.add(GROUP, settings)).toThrow(GroupExistsError);
  });

  it('can come later: a group that is added to a running node begins at once', async () => {
    const nodes = cluster();
    const one = await startOwner(nodes);
    const later = one.gatekeeper.allocation.add('later', groupSchema.parse({ resources: () => ['x'], id: String }));
    await pass(nodes, [one], 2 * BEGIN, () => later.owns('x'));
  });
});
