import { systemClock } from '../../core/async/node-clock.js';
import { inSlices } from '../../core/async/slices.js';
import * as answers from './answers.js';
import { definitionStateSchema } from '../../operate/definitions/answers.js';
import { type Operation, operation } from './operation.js';
import { previewOf } from './preview.js';
import * as requests from './requests.js';

const semaphore = 'api/semaphores/:name';
/** Limit of matching steps in one preview: 1,000 nodes and patterns of 500 instructions. At most 1 s of CPU. */
const MOST_WORK = 20_000_000;

type Described = Pick<Operation, 'operationId' | 'summary' | 'role' | 'problems'>;

/** A change of one definition that needs no more than its name. */
const change = (verb: 'pause' | 'resume' | 'reset', { problems = [], ...described }: Described) =>
  operation({
    ...described,
    method: 'POST',
    path: `${semaphore}/${verb}`,
    writes: true,
    params: requests.nameParams,
    body: requests.changeBody,
    answer: definitionStateSchema,
    problems: ['unknown-semaphore', 'edit-conflict', ...problems],
    run: ({ definitions }, { params, body }, { user: by }) => definitions[verb](params.name, { ...body, by }),
  });

/** Changes single definitions, with the caller's name as the author. */
export const DEFINITION_OPERATIONS = {
  define: operation({
    operationId: 'defineSemaphore',
    method: 'POST',
    path: 'api/semaphores',
    summary: 'Define a semaphore',
    role: 'define',
    writes: true,
    body: requests.defineBody,
    status: 201,
    answer: definitionStateSchema,
    problems: ['already-defined'],
    run: ({ definitions }, { body: { reason, ...definition } }, { user: by }) =>
      definitions.define(definition, { reason, by }),
  }),
  edit: operation({
    operationId: 'editSemaphore',
    method: 'PATCH',
    path: semaphore,
    summary: 'Edit a definition; it applies from the next decision',
    role: 'define',
    writes: true,
    params: requests.nameParams,
    body: requests.editBody,
    answer: definitionStateSchema,
    problems: ['unknown-semaphore', 'edit-conflict'],
    run: ({ definitions }, { params, body: { reason, expectedRevision, ...changes } }, { user: by }) =>
      definitions.edit(params.name, changes, { reason, expectedRevision, by }),
  }),
  pause: change('pause', {
    operationId: 'pauseSemaphore',
    summary: 'Pause a semaphore: no new run starts until it is resumed',
    role: 'operate',
  }),
  resume: change('resume', { operationId: 'resumeSemaphore', summary: 'End a pause', role: 'operate' }),
  reset: change('reset', {
    operationId: 'resetSemaphore',
    summary: 'Restore the definition in code',
    role: 'define',
    problems: ['not-in-code'],
  }),
  remove: operation({
    operationId: 'removeSemaphore',
    method: 'DELETE',
    path: semaphore,
    summary: 'Remove a definition, with all its permits',
    role: 'define',
    writes: true,
    params: requests.nameParams,
    body: requests.removeBody,
    answer: answers.removedSchema,
    problems: ['defined-in-code'],
    run: async ({ definitions }, { params, body }, { user: by }) => ({
      removed: await definitions.remove(params.name, { ...body, by }),
    }),
  }),
  revoke: operation({
    operationId: 'revokePermit',
    method: 'POST',
    path: `${semaphore}/revoke`,
    summary: 'Take a permit from its holder at once',
    role: 'operate',
    writes: true,
    params: requests.nameParams,
    body: requests.revokeBody,
    answer: answers.revokedSchema,
    run: async ({ definitions }, { params, body: { permitId, reason } }, { user: by }) => ({
      revoked: await definitions.revoke(params.name, permitId, { reason, by }),
    }),
  }),
  preview: operation({
    operationId: 'previewDefinition',
    method: 'POST',
    path: 'api/preview',
    summary: 'Check a definition: its faults, and the living nodes that it would match',
    role: 'view',
    body: requests.previewBody,
    answer: answers.previewSchema,
    run: async ({ registry, definitions }, { body }, { signal }) => {
      const preview = previewOf(body, await registry.nodes(), definitions);
      return inSlices(preview, systemClock, { most: MOST_WORK, subject: 'the preview' }, signal);
    },
  }),
};
