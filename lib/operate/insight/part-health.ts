import { type HealthFacts, clusterTimeOf } from './health-report.js';

const PARTS = ['reads', 'writes', 'clock', 'records', 'nodes', 'runs', 'audit', 'tasks'] as const;

/** When one kind of calls to the store was last answered. */
export interface PartHealth {
  /**
   * `reads` and `writes` of single records, the members' `clock`, the lists of `records` and `nodes`, the journals `runs` and
   * `audit`, or `tasks`.
   */
  readonly part: (typeof PARTS)[number];
  /** Begin of the newest answered call: ms since the epoch, cluster time. Absent if none was answered yet. */
  readonly answeredAt?: number;
  /** Begin of the first of the calls that fail now, in the same unit. Absent while calls are answered. */
  readonly failingSince?: number;
}

/** When the calls of each kind that this node has made were answered. Pure. */
export function partsHealth(facts: HealthFacts): PartHealth[] {
  return PARTS.flatMap((part) => partHealth(part, facts));
}

function partHealth(part: PartHealth['part'], facts: HealthFacts): PartHealth[] {
  const { answeredAt, failing } = facts.calls(part);
  if (answeredAt === undefined && !failing) return [];
  return [
    {
      part,
      ...(answeredAt !== undefined && { answeredAt: clusterTimeOf(answeredAt, facts) }),
      ...(failing && { failingSince: clusterTimeOf(failing.since, facts) }),
    },
  ];
}
