import type { MigrationStep } from '../../gatekeeper/index.js';
import { excerpt } from '../text/table.js';

/** Formats the steps of a migration. */
export function planText({ steps, remaining }: { steps: readonly MigrationStep[]; remaining: number }): string {
  const count = steps.length + remaining;
  if (count === 0) return 'nothing to migrate: all matching semaphores have these patterns';
  const shown = excerpt(['name', 'group', 'acquirer', 'moving', 'candidates'], steps.map(row));
  const deserted = steps.filter(({ candidates }) => candidates.length === 0).length;
  const warning = deserted > 0 ? `${deserted} of them would have no living node to run on\n` : '';
  return `${shown}\n${warning}${count} to migrate; nothing was changed: add --yes to make the changes`;
}

function row({ name, from, to, moving, candidates }: MigrationStep): string[] {
  return [
    name,
    arrow(from.groupPattern, to.groupPattern),
    arrow(from.acquirerPattern, to.acquirerPattern),
    moving.map(({ acquirer }) => acquirer).join(', ') || '-',
    candidates.map(({ group, acquirer }) => `${group}/${acquirer}`).join(', ') || 'none',
  ];
}

function arrow(from: string, to: string): string {
  return from === to ? from : `${from} -> ${to}`;
}
