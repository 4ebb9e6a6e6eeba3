import { WINDOW_COLUMNS } from '../../console/lists/changes.js';
import type { LeftAlone, MaintenanceWindow } from '../../gatekeeper/index.js';
import { plain } from '../text/plain.js';
import { cellsOf, table } from '../text/table.js';
import { someOf, timeText } from '../../console/lists/texts.js';

/** Formats all windows. */
export function windowsText({ windows }: { windows: readonly MaintenanceWindow[] }): string {
  return windows.length > 0 ? table(...cellsOf(WINDOW_COLUMNS, windows)) : 'no maintenance windows';
}

/** A line for each open window, above other answers: what it paused is paused on purpose. */
export function windowLines(windows: readonly MaintenanceWindow[] = []): string[] {
  return windows.map((each) => plain(`maintenance ${headOf(each)} (${each.sentence})`));
}

function headOf({ window, by, since, reason }: MaintenanceWindow): string {
  return `${window}, by ${by} since ${timeText(since)}${reason === undefined ? '' : `: ${reason}`}`;
}

/** Formats one window with the names that it concerns. */
export function windowText(window: MaintenanceWindow): string {
  const { semaphores, held, running, unreadable, left, sentence } = window;
  const line = (label: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${label} ${names.length}: ${someOf(names)}`];
  return [
    headOf(window),
    ...line('paused', semaphores),
    ...line(
      'still held',
      held.map(({ semaphore, permits }) => `${semaphore} (${permits})`),
    ),
    ...line('not paused', running),
    ...line('unreadable', unreadable),
    ...leftLines(left),
    sentence,
  ]
    .map(plain)
    .join('\n');
}

/** Formats the outcome of a start or an end. @param verb "paused" or "resumed" */
export function outcomeText(
  verb: string,
  { done, left }: { readonly done: readonly string[]; readonly left: readonly LeftAlone[] },
  shared: readonly string[] = [],
): string {
  const first = done.length === 0 ? `nothing was ${verb}` : `${verb} ${done.length}: ${done.join(', ')}`;
  const others = shared.length === 0 ? [] : [`paused by another window, too: ${shared.join(', ')}`];
  return [first, ...others, ...leftLines(left)].map(plain).join('\n');
}

function leftLines(left: readonly LeftAlone[]): string[] {
  return left.map(({ name, why }) => `left alone ${name}: ${why}`);
}
