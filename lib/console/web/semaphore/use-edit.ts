import { useState } from 'preact/hooks';
import type {
  DefinitionChange,
  DefinitionState,
  SemaphoreDefinition,
  SemaphoreAnswer,
  SemaphoreOverview,
} from '../api/answers.js';
import { ApiError, messageOf } from '../api/api-error.js';
import { call } from '../api/call.js';
import {
  type DefinitionInput,
  FIELDS,
  definitionToInput,
  differences,
  inputToDefinition,
} from '../definition/definition-input.js';
import { intendedDefinition } from './intended-definition.js';

/** What an edit begins from. */
interface Base {
  readonly revision: number;
  readonly input: DefinitionInput;
}

export interface Conflict {
  /** Who was faster, as far as that is known. */
  readonly change: DefinitionChange | undefined;
}

/**
 * An edit under way. It says which revision it began from: when another one is in force by then, nothing is written and
 * the operator's input stays, until they have seen what the other one did.
 */
export function useEdit(semaphore: SemaphoreOverview, inForce: SemaphoreDefinition) {
  const { name } = semaphore;
  const [base, setBase] = useState<Base>(() => ({ revision: semaphore.revision, input: definitionToInput(inForce) }));
  const [input, setInput] = useState(base.input);
  const [conflict, setConflict] = useState<Conflict>();
  const [fault, setFault] = useState<string>();
  const path = `semaphores/${encodeURIComponent(name)}`;
  const changed = differences(base.input, input);

  const refused = (error: unknown) => {
    if (error instanceof ApiError && error.isConflict) setConflict({ change: error.problem.change });
    else setFault(messageOf(error));
  };
  /** @returns whether it is in force */
  const submit = async (reason: string): Promise<boolean> => {
    setFault(undefined);
    const edited = inputToDefinition(input);
    const edit = Object.fromEntries(changed.map((field) => [field, edited[field]]));
    const body = { ...edit, expectedRevision: base.revision, ...(reason.trim() && { reason: reason.trim() }) };
    return call<DefinitionState>(path, { method: 'PATCH', body }).then(
      () => true,
      (error: unknown) => {
        refused(error);
        return false;
      },
    );
  };
  /** Goes on from what is in force now; what the operator has changed stays as they have it. */
  const reload = async () => {
    try {
      const { semaphore } = await call<SemaphoreAnswer>(path);
      const intended = intendedDefinition(semaphore);
      if (!intended) return setFault('It was removed meanwhile.');
      const next = { revision: semaphore.revision, input: definitionToInput(intended) };
      setInput(rebased(input, base.input, next.input));
      setBase(next);
      setConflict(undefined);
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  const outrun = semaphore.revision > base.revision ? { change: semaphore.change } : undefined;
  return { input, setInput, base, changed, conflict: conflict ?? outrun, fault, submit, reload };
}

/** The operator's value where they changed it, else what is in force now. */
export function rebased(input: DefinitionInput, before: DefinitionInput, now: DefinitionInput): DefinitionInput {
  const mine = new Set(differences(before, input));
  return Object.fromEntries(
    FIELDS.map((field) => [field, (mine.has(field) ? input : now)[field]]),
  ) as unknown as DefinitionInput;
}
