import { randomUUID } from 'node:crypto';
import { instanceOfProgram } from '../../core/context/node-identity.js';
import { type SemaphoreDefinitionInput, quoted, unreserved } from '../../core/decision/index.js';
import { AlreadyDefinedError, type ExternalAnswer, type Parts } from '../../gatekeeper/index.js';
import * as answers from './answers.js';
import { type Caller, expectRole } from './caller.js';
import { operation } from './operation.js';
import type { ProblemCode } from './problem-codes.js';
import { ProblemError } from './problem.error.js';
import * as requests from './requests.js';
import { includes } from './roles.js';

/** Gives permits to scripts and to programs in other languages. Such a client may ask any node each time. */
export const PERMIT_OPERATIONS = {
  take: operation({
    operationId: 'takePermit',
    method: 'POST',
    path: 'api/permits',
    summary: 'Take a permit, or wait for one up to a minute; the same holder refreshes its permit',
    role: 'operate',
    isForPermits: true,
    writes: true,
    body: requests.takeBody,
    status: 201,
    answer: answers.permitSchema,
    problems: ['too-many-waits', 'too-many-names', 'unknown-semaphore', 'denied', 'permit-lost', 'closing'],
    run: async (parts, { body }, caller) => {
      const { wait, definition, holder = randomUUID(), acquirer = caller.user, ...rest } = body;
      if (definition) await defineFirst(parts, { name: body.semaphore, ...definition }, caller);
      const who = { holder, acquirer, instance: instanceOf(caller) };
      const request = { ...rest, ...who, isBounded: isBounded(caller) };
      const taking = () => parts.external.take(request, { wait, signal: caller.signal });
      return told(body.semaphore, await caller.limits.waiting('permits', caller, wait, taking));
    },
  }),
  refresh: operation({
    operationId: 'refreshPermit',
    method: 'POST',
    path: 'api/permits/:id/refresh',
    summary: 'Refresh a permit; a permit that has ended stays lost',
    role: 'operate',
    isForPermits: true,
    writes: true,
    params: requests.permitParams,
    body: requests.refreshBody,
    answer: answers.permitSchema,
    problems: ['permit-lost', 'denied'],
    run: async ({ external }, { params: { id }, body: { semaphore, token, duration } }, caller) => {
      const permit = { semaphore, id, token, instance: instanceOf(caller) };
      return told(semaphore, await external.refresh(permit, { duration, isBounded: isBounded(caller) }));
    },
  }),
  release: operation({
    operationId: 'releasePermit',
    method: 'POST',
    path: 'api/permits/:id/release',
    summary: 'Release a permit',
    role: 'operate',
    isForPermits: true,
    writes: true,
    params: requests.permitParams,
    body: requests.releaseBody,
    answer: answers.releasedSchema,
    run: async ({ external }, { params: { id }, body: { semaphore, atLeastFor } }, caller) => ({
      released: await external.release({ semaphore, id, instance: instanceOf(caller) }, { atLeastFor }),
    }),
  }),
};

/** Defines the semaphore if it is not defined. Leaves an existing definition unchanged. */
async function defineFirst(
  { definitions }: Parts,
  definition: SemaphoreDefinitionInput,
  caller: Caller,
): Promise<void> {
  expectRole(caller, 'define');
  // No permit of such a name is given, so nothing may be defined for it.
  unreserved(definition.name);
  if (await definitions.get(definition.name)) return;
  caller.limits.changes.noteOne(caller);
  await definitions.define(definition, { by: caller.user }).catch((error: unknown) => {
    if (!(error instanceof AlreadyDefinedError)) throw error; // another request came first
  });
}

/** Whether the definition's duration is the maximum. It is not for the role define. */
function isBounded({ role }: Caller): boolean {
  return !includes(role, 'define');
}

/** The holder's instance contains the token's name, so that a token can't refresh or release permits of another one. */
function instanceOf({ user }: Caller): string {
  return instanceOfProgram(user);
}

/** @throws ProblemError if the permit was denied */
function told(semaphore: string, answer: ExternalAnswer): answers.PermitAnswer {
  if (answer.outcome === 'granted') {
    const { id, holder, slot, token, grantedAt, expiresAt } = answer.permit;
    return { semaphore, id, holder, slot, token, grantedAt, expiresAt, remaining: answer.remaining };
  }
  const { reason, freeIn } = answer;
  const holders = answer.holders.map((each) => ({ ...each }));
  throw new ProblemError(codeOf(reason), `no permit of semaphore ${quoted(semaphore)}: ${reason}`, {
    reason,
    holders,
    ...(freeIn !== undefined && { freeIn }),
  });
}

function codeOf(reason: string): ProblemCode {
  return reason === 'permit-lost' || reason === 'closing' ? reason : 'denied';
}
