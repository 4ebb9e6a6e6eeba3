import type { SemaphoreOverview } from '../../gatekeeper/index.js';
import {
  LEADER_PREFIX,
  type SemaphoreDefinition,
  definitionSchema,
  sameDefinition,
} from '../../core/decision/index.js';
import type { Dump, DumpedSemaphore } from './dump.js';

export type LoadAction = 'define' | 'edit' | 'pause' | 'resume';

/** Actions that bring one semaphore to the state in the dump. */
export interface LoadStep {
  readonly name: string;
  /** The actions in their order. */
  readonly actions: readonly LoadAction[];
  /** Revision for which the step is planned; absent if the semaphore does not exist. */
  readonly revision?: number;
  /** The definition in force now, without regard to a pause; absent if there is none. */
  readonly from?: SemaphoreDefinition;
  readonly to: DumpedSemaphore;
}

/** Plans steps for semaphores that differ from the dump. Semaphores that are not in the dump stay unchanged. Pure. */
export function planLoad(dump: Dump, present: readonly SemaphoreOverview[]): LoadStep[] {
  const byName = new Map(present.map((semaphore) => [semaphore.name, semaphore]));
  return dump.semaphores.flatMap((to) => {
    const now = byName.get(to.name);
    const from = intended(now);
    if (!from && isLeftToNodes(to)) return [];
    const actions = actionsOf(from, now?.pause !== undefined, to);
    if (actions.length === 0) return [];
    return [{ name: to.name, actions, ...(from && { from, revision: now!.revision }), to }];
  });
}

/**
 * Whether the dump has nothing of a leadership that its nodes would not make at their start. Only nodes make leaderships,
 * with the lease in their code.
 */
function isLeftToNodes(to: DumpedSemaphore): boolean {
  const { name, duration, pause } = to;
  return name.startsWith(LEADER_PREFIX) && !pause && sameDefinition(definitionSchema.parse({ name, duration }), to);
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
