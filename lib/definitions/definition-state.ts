import {
  type DefinitionChange,
  type Pause,
  type SemaphoreDefinition,
  type SemaphoreRecord,
  intendedDefinition,
  sameDefinition,
} from '../decision/index.js';

/** The current definition and its origin. */
export interface DefinitionState {
  /** While it is paused, with a group pattern that matches no node. */
  readonly definition: SemaphoreDefinition;
  /** Grows by one with each change of the definition. */
  readonly revision: number;
  /** The last change; absent: it is as code brought it along. */
  readonly change?: DefinitionChange;
  /** Present while paused; contains the group pattern for the resume. */
  readonly pause?: Pause;
  /** The definition in this node's code, if there is one. */
  readonly code?: SemaphoreDefinition;
  /** Whether the definition differs from this node's code, apart from pauses. `reset` restores the one in code. */
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
