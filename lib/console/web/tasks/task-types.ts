import type { NodeTasks, NodeWork, TaskTypesAnswer } from '../api/answers.js';

/** The work of one node on one type. */
export interface TypeOnNode {
  readonly node: NodeWork['node'];
  readonly work: NodeTasks;
}

/** A type of tasks in the whole cluster. */
export interface TypeOverview {
  readonly type: string;
  /** About how many of its tasks wait. */
  readonly waiting: number;
  /** When the first waiting task was offered to the nodes last: cluster time in ms. Absent if none waits. */
  readonly offeredAt?: number;
  readonly running: number;
  /** Attempts that may run at the same time on all nodes. */
  readonly concurrency: number;
  /** In the last minute. */
  readonly completed: number;
  readonly failed: number;
  /** The nodes that handle its tasks or its groups. */
  readonly nodes: readonly TypeOnNode[];
}

/** All types that wait, or that a node handles, by name. */
export function typesIn({ waiting, nodes }: Pick<TaskTypesAnswer, 'waiting' | 'nodes'>): TypeOverview[] {
  const names = new Set([
    ...waiting.map(({ type }) => type),
    ...nodes.flatMap(({ types }) => types.map(({ type }) => type)),
  ]);
  return [...names].toSorted().map((type) => {
    const found = waiting.find((each) => each.type === type);
    const on = nodes.flatMap(({ node, types }) =>
      types.filter((work) => work.type === type).map((work) => ({ node, work })),
    );
    // Each group has one end, so these would only blur the numbers of the tasks.
    const ofTasks = on.filter(({ work }) => work.handles !== 'groups');
    const sum = (field: 'running' | 'concurrency' | 'completed' | 'failed') =>
      ofTasks.reduce((total, { work }) => total + work[field], 0);
    return {
      type,
      waiting: found?.waiting ?? 0,
      ...(found && { offeredAt: found.offeredAt }),
      running: sum('running'),
      concurrency: sum('concurrency'),
      completed: sum('completed'),
      failed: sum('failed'),
      nodes: on.filter(({ work }) => work.handles !== 'programs'),
    };
  });
}

/** A node that handles a type: its tasks, its groups, or both. */
export interface NodeOfType {
  readonly node: NodeWork['node'];
  readonly tasks?: NodeTasks;
  readonly groups?: NodeTasks;
}

/** The nodes of a type, each once. */
export function nodesOf({ nodes }: Pick<TypeOverview, 'nodes'>): NodeOfType[] {
  const byInstance = new Map<string, NodeOfType>();
  for (const { node, work } of nodes) {
    const known = byInstance.get(node.instance) ?? { node };
    byInstance.set(node.instance, { ...known, [work.handles]: work });
  }
  return [...byInstance.values()];
}

/** State of a type in a word, and in a sentence. */
export interface TypeCondition {
  readonly word: string;
  /** As that of a badge. */
  readonly tone: 'neutral' | 'accent' | 'good' | 'warning' | 'bad';
  readonly sentence?: string;
}

const SENTENCES: Readonly<Record<string, string>> = {
  'paused-here': 'switched off on this node until it restarts',
  paused: 'paused in the whole cluster',
  group: 'the group pattern of its limit excludes this node',
  acquirer: 'the acquirer pattern of its limit excludes this node',
  'no-permit': 'all permits of its limit are taken',
  recovering: 'data were lost; its limit grants nothing for a while',
  unavailable: 'the store can’t be asked',
  'no-quorum': 'too few members of the store are reachable',
};

/** Why a node takes no task of a type, in a sentence. */
export function obstacleSentence(obstacle: string): string {
  return SENTENCES[obstacle] ?? `its limit gives this node no permit: ${obstacle}`;
}

/** The first condition that applies. */
export function conditionOf({ nodes, waiting, running }: TypeOverview): TypeCondition {
  const takers = nodes.filter(({ work }) => work.obstacle === undefined || work.obstacle === 'no-permit');
  const off = new Set(nodes.filter(({ work }) => work.obstacle === 'paused-here').map(({ node }) => node.instance));
  if (nodes.length === 0 && waiting > 0)
    return { word: 'no node', tone: 'warning', sentence: 'No living node handles it. Programs may claim its tasks.' };
  if (nodes.length === 0) return { word: 'programs', tone: 'neutral' };
  if (takers.length === 0) return allStopped(nodes);
  if (off.size > 0)
    return {
      word: 'partly off',
      tone: 'warning',
      sentence: `Switched off on ${namesOf(nodes, off)} until it restarts.`,
    };
  if (running > 0) return { word: 'running', tone: 'accent' };
  return waiting > 0 ? { word: 'waiting', tone: 'neutral' } : { word: 'idle', tone: 'good' };
}

/** No node takes its tasks. */
function allStopped(nodes: readonly TypeOnNode[]): TypeCondition {
  const obstacles = new Set(nodes.map(({ work }) => work.obstacle!));
  if (obstacles.has('paused')) return { word: 'paused', tone: 'warning' };
  if (obstacles.size === 1 && obstacles.has('paused-here'))
    return { word: 'off', tone: 'warning', sentence: 'Switched off on each node that handles it, until it restarts.' };
  const reasons = [...obstacles].map(obstacleSentence).join('; ');
  return { word: 'stopped', tone: 'bad', sentence: `No node takes its tasks: ${reasons}.` };
}

function namesOf(nodes: readonly TypeOnNode[], instances: ReadonlySet<string>): string {
  const names = new Set(nodes.filter(({ node }) => instances.has(node.instance)).map(({ node }) => node.acquirer));
  return [...names].join(', ');
}
