import {
  type SemaphoreDefinition,
  type SemaphoreRecord,
  intendedDefinition,
  sameDefinition,
} from '../../core/decision/index.js';
import type { DefinitionState } from './answers.js';

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
