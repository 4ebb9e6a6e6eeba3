import {
  type DefinitionChange,
  type DefinitionSource,
  type Pause,
  type SemaphoreDefinition,
  type SemaphoreRecord,
  intendedDefinition,
  sameDefinition,
} from '../../core/decision/index.js';

/** The current definition and its origin. */
export interface DefinitionState {
  /** The definition. During a pause its group pattern matches no group. */
  readonly definition: SemaphoreDefinition;
  /** Grows by one with each change of the definition. */
  readonly revision: number;
  /**
   * `code`: the definition follows the code of the living nodes. `operator`: it stays until an operator changes it, or resets
   * it to the code. Absent if only calls that hold its permits define it.
   */
  readonly source?: DefinitionSource;
  /** The last change. Absent if the definition is as code declared it. */
  readonly change?: DefinitionChange;
  /** Present during a pause. Contains the group pattern that applies afterwards. */
  readonly pause?: Pause;
  /** The definition in this node's code, if any. */
  readonly code?: SemaphoreDefinition;
  /** Whether the definition differs from this node's code, apart from pauses. `reset` restores the one in code. */
  readonly isOverridden: boolean;
}

/** A copy for callers: one that changes it in place must not change what this node knows. @returns as {@link definitionState} */
export function copiedState(
  record: SemaphoreRecord | undefined,
  code: SemaphoreDefinition | undefined,
): DefinitionState | undefined {
  return structuredClone(definitionState(record, code));
}

/** @returns undefined for a semaphore that was removed, or never defined */
export function definitionState(
  record: SemaphoreRecord | undefined,
  code: SemaphoreDefinition | undefined,
): DefinitionState | undefined {
  const intended = record && intendedDefinition(record);
  if (!record?.definition || !intended) return undefined;
  const { definition, revision, source = 'operator', isOnDemand, change, pause } = record;
  return {
    definition,
    revision,
    ...(!isOnDemand && { source }),
    ...(change && { change }),
    ...(pause && { pause }),
    ...(code && { code }),
    isOverridden: code !== undefined && !sameDefinition(code, intended),
  };
}
