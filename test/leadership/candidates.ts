import type { GatekeeperOptions, Term } from 'nestjs-gatekeeper';
import { START, settled } from '../support/fake-time.js';
import type { TestCluster, TestNode } from '../support/nodes.js';

export const LEASE = 10_000;
export const TOLERANCE = 500;
/** ms for which a node that gave its leadership up lets others go first. */
export const REST = 6000;
/** ms for which the end of a term waits for the work under it. */
export const GRACE = 3000;

/** A node that takes part in leadership. */
export async function candidate(cluster: TestCluster, options: Partial<GatekeeperOptions> = {}): Promise<TestNode> {
  const node = await cluster.node({ definitions: [], shutdownGrace: GRACE, leadership: { lease: LEASE }, ...options });
  await node.gatekeeper.cluster.initialize();
  await cluster.time.advance(200);
  return node;
}

/** So many nodes; the first one leads. */
export async function candidates(cluster: TestCluster, count: number): Promise<TestNode[]> {
  const nodes: TestNode[] = [];
  for (let each = 0; each < count; each++) nodes.push(await candidate(cluster));
  return nodes;
}

export const scopeOf = ({ gatekeeper }: TestNode, scope?: string) => gatekeeper.cluster.scope(scope);
export const instanceOf = ({ gatekeeper }: TestNode) => gatekeeper.node.instance;
export const leads = (node: TestNode, scope?: string): boolean => scopeOf(node, scope).isLeader;

/** The nodes that claim to lead. */
export const leadersOf = (nodes: readonly TestNode[], scope?: string) => nodes.filter((node) => leads(node, scope));

/**
 * Moves time in small steps until a node leads, and checks at each step that no two nodes claim to lead.
 *
 * @returns ms that passed
 */
export async function untilLed(cluster: TestCluster, nodes: readonly TestNode[], within: number): Promise<number> {
  const { time } = cluster;
  const begun = time.monotonic();
  for (;;) {
    await settled();
    const leaders = leadersOf(nodes);
    if (leaders.length > 1) throw new Error(`${leaders.length} leaders at once, ${time.cluster() - START} ms in`);
    if (leaders.length === 1) return time.monotonic() - begun;
    if (time.monotonic() - begun > within) throw new Error(`no leader within ${within} ms`);
    await time.advance(20);
  }
}

/** The terms that a node had, by the callbacks that it got: "+token" and "-token". */
export function heard(node: TestNode, scope?: string): string[] {
  const log: string[] = [];
  scopeOf(node, scope).on('gained', (term: Term) => void log.push(`+${term.token}`));
  scopeOf(node, scope).on('lost', (term: Term) => void log.push(`-${term.token}`));
  return log;
}

/** From now on the node gets no answer, and cannot be heard: it is cut off, or dead as far as the others see. */
export function cutOff({ store }: TestNode): void {
  store.script = () => new Promise(() => undefined);
  store.isDeaf = true;
}

export function reconnect({ store }: TestNode): void {
  store.script = undefined;
  store.isDeaf = false;
}

export const definitionsOf = ({ gatekeeper }: TestNode) => gatekeeper.definitions;
