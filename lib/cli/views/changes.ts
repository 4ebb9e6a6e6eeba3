import { heldBy } from '../../console/lists/semaphores.js';
import type { SemaphoreOverview } from '../../gatekeeper/index.js';

/** A change of a semaphore between two looks. */
export interface Change {
  /** Time of the second look: cluster time, ms since the epoch. */
  readonly at: number;
  readonly semaphore: string;
  readonly change: 'granted' | 'ended' | 'definition' | 'gone' | 'warning' | 'problem';
  /** The change, for people. */
  readonly sentence: string;
}

interface Look {
  readonly now: number;
  readonly semaphores: readonly SemaphoreOverview[];
}

type Finding = Pick<Change, 'change' | 'sentence'>;

/**
 * Lists the differences, sorted by the semaphore's name. A permit that came and went between the looks is not among
 * them.
 */
export function changesBetween(before: Look, after: Look): Change[] {
  const former = byName(before);
  const present = byName(after);
  const names = [...new Set([...former.keys(), ...present.keys()])].toSorted();
  return names.flatMap((semaphore) =>
    findings(former.get(semaphore), present.get(semaphore)).map((finding) => ({
      at: after.now,
      semaphore,
      ...finding,
    })),
  );
}

function byName({ semaphores }: Look): Map<string, SemaphoreOverview> {
  return new Map(semaphores.map((semaphore) => [semaphore.name, semaphore]));
}

function findings(before: SemaphoreOverview | undefined, after: SemaphoreOverview | undefined): Finding[] {
  if (!after) return [{ change: 'gone', sentence: 'removed' }];
  return [
    ...definitionFindings(before, after),
    ...permitFindings(before, after),
    ...(after.problem !== undefined && after.problem !== before?.problem
      ? [{ change: 'problem' as const, sentence: after.problem }]
      : []),
    ...after.warnings
      .filter(({ code }) => !before?.warnings.some((warning) => warning.code === code))
      .map(({ sentence }) => ({ change: 'warning' as const, sentence })),
  ];
}

function definitionFindings(before: SemaphoreOverview | undefined, after: SemaphoreOverview): Finding[] {
  if (before?.revision === after.revision || after.problem !== undefined) return [];
  const { change, revision } = after;
  const author = change
    ? `${change.kind} by ${change.by}${change.reason ? `: ${change.reason}` : ''}`
    : 'defined by code';
  return [{ change: 'definition', sentence: `revision ${revision}, ${author}` }];
}

function permitFindings(before: SemaphoreOverview | undefined, after: SemaphoreOverview): Finding[] {
  const former = before ? heldBy(before) : [];
  const present = heldBy(after);
  const ended = former.filter(({ id }) => !present.some((holder) => holder.id === id));
  const granted = present.filter(({ id }) => !former.some((holder) => holder.id === id));
  return [
    ...ended.map(({ slot, group, acquirer }) => ({
      change: 'ended' as const,
      sentence: `slot ${slot} is no longer held by ${group}/${acquirer}`,
    })),
    ...granted.map(({ slot, group, acquirer, token }) => ({
      change: 'granted' as const,
      sentence: `slot ${slot} is held by ${group}/${acquirer}, token ${token}`,
    })),
  ];
}
