import { type GatekeeperEvent, type Participant, StoreUnavailableError } from 'nestjs-gatekeeper';
import type { NodeClock } from '../../lib/core/async/node-clock.js';
import type { MemberEntry, MemberPage } from '../../lib/core/members/member-page.js';
import type { TestCluster, TestNode } from './nodes.js';
import { allTexts } from '../../lib/core/store/paging.js';

/** The lease of all members in tests, and the tolerance of their clocks, in ms. */
export const LEASE = 10_000;
export const TOLERANCE = 500;
/** The longest time from one heartbeat to the next, in ms. */
export const HEARTBEAT = (LEASE / 3) * 1.1;

export const startMember = (nodes: TestCluster, options = {}, clock?: NodeClock): Promise<TestNode> =>
  nodes.node({ membership: { lease: LEASE }, ...options }, clock);

/** Names of the participants as a node knows them. */
export const namesAt = ({ gatekeeper }: TestNode): string[] =>
  gatekeeper.membership.participants().map(({ acquirer }) => acquirer);

/** The changes that a node noticed, with the names of the nodes that they are about. */
export const changesAt = ({ events }: TestNode): string[] =>
  events.flatMap((event: GatekeeperEvent) =>
    event.type.startsWith('member') ? [`${event.type} ${(event as { member: Participant }).member.acquirer}`] : [],
  );

/** The node reaches the store no more, as after kill -9. */
export function kill({ store }: TestNode): void {
  store.isDeaf = true;
  store.script = () => Promise.reject(new StoreUnavailableError('dead'));
}

/** The pages in the store, by key. */
export async function pagesIn(nodes: TestCluster): Promise<Map<string, MemberPage>> {
  const texts = await allTexts(nodes.raw.records, 'members:');
  return new Map([...texts].map(([key, text]) => [key, JSON.parse(text) as MemberPage]));
}

/** The key of the page with the entry of a node. */
export async function pageOf(nodes: TestCluster, { gatekeeper }: TestNode): Promise<string> {
  const { instance } = gatekeeper.node;
  const pages = [...(await pagesIn(nodes))];
  return pages.find(([, { entries }]) => entries.some((entry) => entry.instance === instance))![0];
}

export async function entryOf(nodes: TestCluster, { gatekeeper }: TestNode): Promise<MemberEntry | undefined> {
  const { instance } = gatekeeper.node;
  const entries = [...(await pagesIn(nodes)).values()].flatMap((page) => page.entries);
  return entries.filter((entry) => entry.instance === instance).toSorted((one, other) => other.beat - one.beat)[0];
}

/** The id of a node's present lease. */
export const incOf = async (nodes: TestCluster, node: TestNode): Promise<string | undefined> =>
  (await entryOf(nodes, node))?.inc;

/** Overwrites a text as a foreign program would. */
export async function overwrite(nodes: TestCluster, key: string, text: string): Promise<void> {
  await nodes.raw.records.compareAndSet(key, await nodes.raw.records.read(key), text, { notify: 'none' });
}
