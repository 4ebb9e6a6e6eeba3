import {
  type DefinitionChange,
  type Pause,
  type SemaphoreDefinition,
  type SemaphoreRecord,
  intendedDefinition,
  sameDefinition,
} from '../decision/index.js';

/** A definition as it is in force, and where it comes from. */
export interface DefinitionState {
  /** While it is paused, with a group pattern that matches no node. */
  readonly definition: SemaphoreDefinition;
  /** Grows by one with each change of the definition. */
  readonly revision: number;
  /** The last change; absent: it is as code brought it along. */
  readonly change?: DefinitionChange;
  /** Present while it is paused; has the group pattern of afterwards. */
  readonly pause?: Pause;
  /** The definition in this node's code, if there is one. */
  readonly code?: SemaphoreDefinition;
  /** Whether something else than what this node's code says is in force, pauses aside. `reset` puts the code's back. */
  readonly isOverridden: boolean;
}

/** @returns undefined for a semaphore that was removed, or never defined */
export function definitionState(
  record: SemaphoreRecord | undefined,
  code: SemaphoreDefinition | undefined,
): DefinitionState | undefined {
  const intended = record && intendedDefinition(record);
  if (!record?.definition || !intended) return undefined;
  const { definition, revision, change, pause } = record;
  return {
    definition,
    revision,
    ...(change && { change }),
    ...(pause && { pause }),
    ...(code && { code }),
    isOverridden: code !== undefined && !sameDefinition(code, intended),
  };
}
