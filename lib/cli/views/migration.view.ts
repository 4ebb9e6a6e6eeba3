import type { MigrationPlan, MigrationStep } from '../../gatekeeper/index.js';
import { someOf } from '../confirm.js';
import { excerpt } from '../text/table.js';

/** Formats the steps of a migration. */
export function planText({ steps, remaining, unreadable }: MigrationPlan): string {
  const count = steps.length + remaining;
  const matching = unreadable.length > 0 ? 'matching semaphores that can be read' : 'matching semaphores';
  if (count === 0) return `nothing to migrate: all ${matching} have these patterns`;
  const shown = excerpt(['name', 'group', 'acquirer', 'moving', 'candidates'], steps.map(row));
  const deserted = steps.filter(({ candidateCount }) => candidateCount === 0).length;
  const warning = deserted > 0 ? `${deserted} of them would have no living node to run on\n` : '';
  return `${shown}\n${warning}${count} to migrate; nothing was changed: add --yes to make the changes`;
}

function row({ name, from, to, moving, candidates, candidateCount }: MigrationStep): string[] {
  return [
    name,
    arrow(from.groupPattern, to.groupPattern),
    arrow(from.acquirerPattern, to.acquirerPattern),
    moving.map(({ acquirer }) => acquirer).join(', ') || '-',
    someOf(
      candidates.map(({ group, acquirer }) => `${group}/${acquirer}`),
      candidateCount,
    ) || 'none',
  ];
}

function arrow(from: string, to: string): string {
  return from === to ? from : `${from} -> ${to}`;
}
