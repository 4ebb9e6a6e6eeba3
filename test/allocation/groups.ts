import type {
  AllocationChange,
  AllocationGroup,
  AllocationGroupDefinition,
  GatekeeperOptions,
} from 'nestjs-gatekeeper';
import type { NodeClock } from '../../lib/core/async/node-clock.js';
import type { TestCluster, TestNode } from '../support/nodes.js';

/** The lease of all members in tests, and the tolerance of their clocks, in ms. */
export const LEASE = 6000;
export const TOLERANCE = 500;
/** ms after which a node that died is surely not waited for any more, and the group is divided again. */
export const CRASH = LEASE + TOLERANCE + 2000;

export const GROUP = 'queues';

/** A change as the application got it. */
export interface ToldChange {
  readonly owned: readonly string[];
  readonly added: readonly string[];
  readonly revoked: readonly string[];
}

export interface Owner extends TestNode {
  readonly group: AllocationGroup<string>;
  readonly told: ToldChange[];
}

export const letters = (text: string): string[] => [...text];

export const toldOf = (owned: readonly { id: string }[], { added, revoked }: AllocationChange<string>): ToldChange => {
  const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id).toSorted();
  return { owned: ids(owned), added: ids(added), revoked: ids(revoked) };
};

/** Starts a node that takes part in the group. */
export async function startOwner(
  nodes: TestCluster,
  group: Partial<AllocationGroupDefinition<string>> = {},
  options: Partial<GatekeeperOptions> = {},
  clock?: NodeClock,
): Promise<Owner> {
  const told: ToldChange[] = [];
  const definition: AllocationGroupDefinition<string> = {
    name: GROUP,
    resources: () => letters('abcdef'),
    id: (item) => item,
    onAllocated: (owned, change) => void told.push(toldOf(owned, change)),
    ...group,
  };
  const allocation = { groups: [definition] };
  const node = await nodes.node({ membership: { lease: LEASE }, allocation, ...options }, clock);
  await node.gatekeeper.allocation.start();
  return { ...node, group: node.gatekeeper.allocation.group<string>(definition.name), told };
}

/** "abc|def" */
export const sharesOf = (owners: readonly Owner[]): string =>
  owners
    .map(({ group }) =>
      group
        .owned()
        .map(({ id }) => id)
        .toSorted()
        .join(''),
    )
    .join('|');

/**
 * Moves time in small steps, and checks at each step that no resource has two owners.
 *
 * @returns ms until `isDone`, or all of `ms` without it
 */
export async function pass(
  { time }: TestCluster,
  owners: readonly Owner[],
  ms: number,
  isDone?: () => boolean,
): Promise<number> {
  const began = time.monotonic();
  for (;;) {
    await time.advance(0);
    expectOneOwnerEach(owners);
    const passed = time.monotonic() - began;
    if (isDone?.()) return passed;
    if (passed >= ms && isDone) throw new Error(`not within ${ms} ms: ${sharesOf(owners)}`);
    if (passed >= ms) return passed;
    await time.advance(50);
  }
}

function expectOneOwnerEach(owners: readonly Owner[]): void {
  const all = owners.flatMap(({ group }) => group.owned().map(({ id }) => id));
  if (new Set(all).size === all.length) return;
  const twice = all.filter((id, at) => all.indexOf(id) !== at);
  throw new Error(`two owners of ${twice.join()}: ${sharesOf(owners)}`);
}

/** Sizes of the shares, the largest first. */
export const sizesOf = (owners: readonly Owner[]): number[] =>
  owners.map(({ group }) => group.owned().length).toSorted((one, other) => other - one);

/** So many nodes that share the resources evenly. */
export async function startOwners(
  nodes: TestCluster,
  count: number,
  group: Partial<AllocationGroupDefinition<string>> = {},
): Promise<Owner[]> {
  const owners: Owner[] = [];
  for (let each = 0; each < count; each++) owners.push(await startOwner(nodes, group));
  const total = letters('abcdef').length;
  const isEven = () =>
    sizesOf(owners).reduce((sum, size) => sum + size) === total && sizesOf(owners)[0]! <= Math.ceil(total / count);
  await pass(nodes, owners, 2 * BEGIN, isEven);
  return owners;
}

/** ms until the first owner map of a group is surely in force. */
export const BEGIN = LEASE + TOLERANCE + 3000;
