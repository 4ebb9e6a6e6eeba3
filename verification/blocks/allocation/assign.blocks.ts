import type { Pieces } from '../../../lib/core/async/slices.js';
import { type AssignRequest, assign } from '../../../lib/allocation/assign/assign.js';
import { readMasterSet } from '../../../lib/allocation/resources/master-set.js';
import { threadCpu } from '../../../test/console/longest-block.js';
import type { OwnedPage } from '../../../lib/allocation/map/page.js';
import { applyRoot, noBelief } from '../../../lib/allocation/node/belief.js';
import { planMoves } from '../../../lib/allocation/plan.js';
import { planRound } from '../../../lib/allocation/round/plan-round.js';
import { finish, ownersAfter } from '../../../test/allocation/divisions.js';
import { after, anEntry, anInput, aRegistry, planned } from '../../../test/allocation/maps.js';

const TRIES = 5;

/** ms of CPU time: the least of several tries, since a busy machine takes longer. */
function measure(name: string, work: () => Pieces<unknown>): { longest: number; total: number } {
  const tries = Array.from({ length: TRIES }, () => {
    const ends = [threadCpu()];
    for (const _ of work()) ends.push(threadCpu());
    ends.push(threadCpu());
    const longest = Math.max(...ends.slice(1).map((end, index) => end - ends[index]!));
    return { longest, total: ends.at(-1)! - ends[0]! };
  });
  const longest = Math.min(...tries.map((each) => each.longest));
  const total = Math.min(...tries.map((each) => each.total));
  console.log(`${name}: longest piece ${longest.toFixed(1)} ms, ${total.toFixed(0)} ms in all`);
  return { longest, total };
}

const resources = Array.from({ length: 100_000 }, (_, index) => `resource-${(index * 7919) % 100_003}`);
const participants = Array.from({ length: 100 }, (_, index) => ({ id: `node-${index}`, weight: 1 + (index % 3) }));
const ownersOf = (ids: (index: number) => string) =>
  new Map(resources.map((resource, index) => [resource, ids(index)] as const));
const base: AssignRequest = { resources, participants, current: new Map() };
const settled = ownersAfter(base, finish(assign(base)));

const CASES: readonly { readonly when: string; readonly request: AssignRequest }[] = [
  { when: 'none has an owner', request: base },
  { when: 'one node has all', request: { ...base, current: ownersOf(() => 'node-5') } },
  { when: 'the owners are random', request: { ...base, current: ownersOf((index) => `node-${(index * 31) % 120}`) } },
  { when: 'all is settled', request: { ...base, current: settled } },
  { when: 'the strategy is "even"', request: { ...base, current: settled, strategy: 'even' } },
];

describe('100,000 resources and 100 nodes', () => {
  it.each(CASES)('are divided without a block of 20 ms when $when', ({ when, request }) => {
    expect(measure(when, () => assign(request)).longest).toBeLessThan(20);
  });

  it('are read without a block of 20 ms', () => {
    const { longest } = measure('master set', () => readMasterSet('queues', resources, (id) => id));
    expect(longest).toBeLessThan(20);
  });

  const entries = Array.from({ length: 100 }, (_, index) => anEntry(`node-${index}#0`, { weight: 1 + (index % 3) }));
  const empty = { resources: resources.toSorted(), pages: { owned: new Map(), limbo: new Map() } };
  const first = { ...empty, registry: aRegistry(entries.slice(1)) };
  const all = after(first, planned(first));

  const given = entries.map((entry) => ({ ...entry, acked: { born: 'b1', seq: 99 } }));
  const inGrace = { ...all, found: { ...all.found!, grace: true }, registry: aRegistry(given) };
  const withOwnTokens = ({ v, owned }: OwnedPage): OwnedPage => {
    const ids = owned.flatMap(([, list]) => list);
    return { v, owned: ids.map((id, index) => [index, [id]] as const) };
  };
  const own = new Map([...all.pages!.owned].map(([key, page]) => [key, withOwnTokens(page)] as const));
  const ownTokens = { ...inGrace, pages: { ...all.pages!, owned: own } };

  it.each([
    { when: 'all are granted', input: first },
    { when: 'a grace ends', input: inGrace },
    { when: 'a grace ends and each resource has a token of its own', input: ownTokens },
    { when: 'nothing changes', input: all },
    { when: 'a node joins', input: { ...all, registry: aRegistry(entries) } },
    { when: 'half of the nodes are over', input: { ...all, registry: aRegistry(entries.slice(50)) } },
  ])('are planned by the leader without a block of 20 ms when $when', ({ when, input }) => {
    expect(measure(`round: ${when}`, () => planRound(anInput(input))).longest).toBeLessThan(20);
  });

  it('are taken over, and given up, by one node without a block of 20 ms', () => {
    const alone = { ...empty, registry: aRegistry([entries[0]!]) };
    const { found, pages } = after(alone, planned(alone));
    const taken = measure('node: all is added', () => applyRoot(noBelief('node-0#0'), found!, pages!.owned));
    const { belief } = finish(applyRoot(noBelief('node-0#0'), found!, pages!.owned));
    const none = { ...found!, seq: found!.seq + 1, members: new Map() };
    const given = measure('node: all is revoked', () => applyRoot(belief, none, new Map()));
    expect(Math.max(taken.longest, given.longest)).toBeLessThan(20);
  });

  it('are explained without a block of 20 ms', () => {
    const living = participants.map(({ id, weight }) => ({ inc: id, node: id, weight }));
    const owners = new Map([...settled].map(([resource, inc]) => [resource, { inc }] as const));
    const input = { resources, living, owners, orders: { pins: new Map(), drained: new Set<string>() } };
    expect(measure('plan', () => planMoves(input, { drain: ['node-5'] })).longest).toBeLessThan(20);
  });
});
