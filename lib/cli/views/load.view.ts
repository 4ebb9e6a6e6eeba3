import type { LoadStep } from '../dump/load-plan.js';
import { excerpt } from '../text/table.js';
import { differenceText } from './difference.js';

/** Formats the changes that a load of a dump would make. */
export function loadText({ steps }: { steps: readonly LoadStep[] }): string {
  if (steps.length === 0) return 'nothing to load: the cluster matches the dump already';
  const rows = steps.map(({ name, actions, from, to }) => [name, actions.join(', '), differenceText(from, to)]);
  const shown = excerpt(['name', 'action', 'change'], rows);
  return `${shown}\n${steps.length} to load; nothing was changed: add --yes to make the changes`;
}
