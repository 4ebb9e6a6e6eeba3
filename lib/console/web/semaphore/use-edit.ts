import { useState } from 'preact/hooks';
import type { SemaphoreDefinition, SemaphoreOverview } from '../api/answers.js';
import { call } from '../api/call.js';
import {
  type DefinitionInput,
  FIELDS,
  definitionToInput,
  differences,
  inputToDefinition,
} from '../definition/definition-input.js';
import type { Conflict } from '../forms/conflict-notice.js';
import { intendedDefinition } from './intended-definition.js';

/** The revision and definition from which an edit starts. */
interface Base {
  readonly revision: number;
  readonly input: DefinitionInput;
}

/**
 * An edit in progress. It is sent with the revision from which it started. If another revision is in force by then, the
 * node refuses it. The operator's input stays, so that the operator can look at the other change first.
 */
export function useEdit(semaphore: SemaphoreOverview, inForce: SemaphoreDefinition) {
  const { name } = semaphore;
  const [base, setBase] = useState<Base>(() => ({ revision: semaphore.revision, input: definitionToInput(inForce) }));
  const [input, setInput] = useState(base.input);
  const params = { name };
  const changed = differences(base.input, input);

  /** Sends the changed fields. @throws ApiError */
  const submit = async (reason: string | undefined): Promise<void> => {
    const edited = inputToDefinition(input);
    const edit = Object.fromEntries(changed.map((field) => [field, edited[field]]));
    const body = { ...edit, expectedRevision: base.revision, reason };
    await call('edit', { params, body });
  };
  /** Continues with the definition in force now. Fields that the operator has changed keep their values. */
  const reload = async (): Promise<void> => {
    const { semaphore } = await call('semaphore', { params });
    const intended = intendedDefinition(semaphore);
    if (!intended) throw new Error('The definition was removed meanwhile.');
    const next = { revision: semaphore.revision, input: definitionToInput(intended) };
    setInput(rebased(input, base.input, next.input));
    setBase(next);
  };
  const outrun: Conflict | undefined = semaphore.revision > base.revision ? { change: semaphore.change } : undefined;
  return { input, setInput, base, changed, outrun, submit, reload };
}

/** Returns the operator's value for each changed field, and the present value for the others. */
export function rebased(input: DefinitionInput, before: DefinitionInput, now: DefinitionInput): DefinitionInput {
  const mine = new Set(differences(before, input));
  return Object.fromEntries(
    FIELDS.map((field) => [field, (mine.has(field) ? input : now)[field]]),
  ) as unknown as DefinitionInput;
}
