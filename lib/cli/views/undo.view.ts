import type { UndoStep } from '../../gatekeeper/index.js';
import { plain } from '../text/plain.js';
import { excerpt } from '../text/table.js';
import { differenceText } from './difference.js';

/** Formats the steps of an undo. */
export function undoPlanText({ steps, remaining }: { steps: readonly UndoStep[]; remaining: number }): string {
  const count = steps.filter(({ outcome }) => outcome === 'planned').length + remaining;
  const shown = excerpt(
    ['name', 'was', 'undo', 'change'],
    steps.map((step) => [step.name, step.action, undoOf(step), changeOf(step)]),
  );
  const end = count === 0 ? 'nothing to undo' : `${count} to undo; nothing was changed: add --yes to make the changes`;
  return `${shown}\n${end}`;
}

interface Undone {
  readonly undone: readonly string[];
  readonly left: readonly { readonly name: string; readonly why: string }[];
}

/** Formats the result of an undo: the number, and by name what was left alone. */
export function undoneText({ undone, left }: Undone): string {
  const done = undone.length === 0 ? 'nothing was undone' : `undone ${undone.length}: ${undone.join(', ')}`;
  return [done, ...left.map(({ name, why }) => `left alone ${name}: ${why}`)].map(plain).join('\n');
}

function undoOf({ outcome, kind }: UndoStep): string {
  return outcome === 'planned' ? kind : '-';
}

function changeOf({ outcome, from, to, why, isPaused, willBePaused, revokes }: UndoStep): string {
  if (outcome === 'unchanged') return 'is as before already';
  if (outcome !== 'planned') return `left alone: ${why}`;
  if (!to) return revokes > 0 ? `removes it and ${revokes} held` : 'removes it';
  const pause = isPaused === willBePaused ? [] : [willBePaused ? 'paused again' : 'no longer paused'];
  const fields = differenceText(from, to);
  return [...pause, ...(fields === '-' || fields === '' ? [] : [fields])].join(', ');
}
