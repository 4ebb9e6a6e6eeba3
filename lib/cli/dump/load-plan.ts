import type { SemaphoreOverview } from '../../gatekeeper/index.js';
import { type SemaphoreDefinition, sameDefinition } from '../../decision/index.js';
import type { Dump, DumpedSemaphore } from './dump.js';

export type LoadAction = 'define' | 'edit' | 'pause' | 'resume';

/** Actions that bring one semaphore to the state in the dump. */
export interface LoadStep {
  readonly name: string;
  /** In this order. */
  readonly actions: readonly LoadAction[];
  /** The revision that it is planned for; absent: there is none. */
  readonly revision?: number;
  /** The definition in force now, without a pause. */
  readonly from?: SemaphoreDefinition;
  readonly to: DumpedSemaphore;
}

/** Plans steps only for semaphores that differ from the dump; those that are not in the dump stay unchanged. Pure. */
export function planLoad(dump: Dump, present: readonly SemaphoreOverview[]): LoadStep[] {
  const byName = new Map(present.map((semaphore) => [semaphore.name, semaphore]));
  return dump.semaphores.flatMap((to) => {
    const now = byName.get(to.name);
    const from = intended(now);
    const actions = actionsOf(from, now?.pause !== undefined, to);
    if (actions.length === 0) return [];
    return [{ name: to.name, actions, ...(from && { from, revision: now!.revision }), to }];
  });
}

function actionsOf(from: SemaphoreDefinition | undefined, isPaused: boolean, to: DumpedSemaphore): LoadAction[] {
  const isToBePaused = to.pause !== undefined;
  return [
    ...(from ? [] : ['define' as const]),
    ...(from && !sameDefinition(from, to) ? ['edit' as const] : []),
    ...(isToBePaused && !isPaused ? ['pause' as const] : []),
    ...(isPaused && !isToBePaused ? ['resume' as const] : []),
  ];
}

function intended(semaphore: SemaphoreOverview | undefined): SemaphoreDefinition | undefined {
  const { definition, pause } = semaphore ?? {};
  return definition && pause ? { ...definition, groupPattern: pause.groupPattern } : definition;
}
