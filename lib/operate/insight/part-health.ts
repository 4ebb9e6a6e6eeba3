import { type HealthFacts, clusterTimeOf } from './health-report.js';
import type { PartHealth } from './health-answers.js';

const PARTS = ['reads', 'writes', 'clock', 'records', 'nodes', 'runs', 'audit', 'tasks'] as const;

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
