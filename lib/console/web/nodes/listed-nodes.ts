import type { LeadersOverview, MemberState, NodeOverview } from '../api/answers.js';

/** A node as its registry entry, its membership, or both show it. */
export interface ListedNode extends Pick<NodeOverview, 'group' | 'acquirer' | 'instance' | 'host' | 'startedAt'> {
  readonly version?: string | undefined;
  /** Absent if the node publishes nothing, for example because it left. */
  readonly published?: NodeOverview;
  /** Absent if it takes no part in leadership and allocation. */
  readonly member?: MemberState;
  /** The scopes that it leads. */
  readonly leads: readonly string[];
}

/** Joins both lists by instance, sorted by group and name. */
export function listedNodes(nodes: readonly NodeOverview[], leaders: LeadersOverview | undefined): ListedNode[] {
  const { members = [], scopes = [] } = leaders ?? {};
  const byInstance = new Map(members.map((member) => [member.instance, member]));
  const leadsOf = (instance: string) =>
    scopes.flatMap(({ scope, leader }) => (leader?.instance === instance ? [scope] : []));
  const known = nodes.map((node) => {
    const member = byInstance.get(node.instance);
    return { ...node, published: node, ...(member && { member }), leads: leadsOf(node.instance) };
  });
  const published = new Set(nodes.map(({ instance }) => instance));
  const others = members
    .filter(({ instance }) => !published.has(instance))
    .map((member) => ({ ...member, member, leads: leadsOf(member.instance) }));
  return [...known, ...others].toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

function nameOf({ group, acquirer, instance }: ListedNode): string {
  return `${group}\n${acquirer}\n${instance}`;
}
