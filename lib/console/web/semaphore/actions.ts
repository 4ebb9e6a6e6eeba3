import type { DefinitionState, SemaphoreOverview } from '../api/answers.js';
import { call } from '../api/call.js';
import type { Action } from '../forms/action-dialog.js';
import { goTo } from '../router.js';
import { listHref } from '../semaphores/list-place.js';

type Done = () => Promise<void>;

/** The actions of a semaphore's page. */
export function pauseAction({ name }: SemaphoreOverview, done: Done): Action {
  return {
    title: `Pause ${name}`,
    explanation: 'No new run starts on any node until it is resumed. Runs that are going on may finish.',
    verb: 'Pause',
    run: (reason) => post(name, 'pause', { reason }, `“${name}” is paused.`, done),
  };
}

export function resumeAction({ name }: SemaphoreOverview, done: Done): Action {
  return {
    title: `Resume ${name}`,
    explanation: 'Runs may start again on all nodes that match.',
    verb: 'Resume',
    run: (reason) => post(name, 'resume', { reason }, `“${name}” is resumed.`, done),
  };
}

export function resetAction({ name, revision }: SemaphoreOverview, done: Done): Action {
  return {
    title: `Reset ${name} to the code`,
    explanation: 'Puts what the code says back into force, for the very next decision of every node.',
    verb: 'Reset',
    run: (reason) =>
      post(name, 'reset', { reason, expectedRevision: revision }, `“${name}” is as the code says again.`, done),
  };
}

export function removeAction({ name }: SemaphoreOverview): Action {
  return {
    title: `Remove ${name}`,
    explanation: 'Takes the definition away, with all its permits. Nothing runs under it until it is defined again.',
    verb: 'Remove',
    isDangerous: true,
    confirmation: name,
    run: async (reason) => {
      await call(pathOf(name), { method: 'DELETE', body: { reason } });
      goTo(listHref());
      return `“${name}” is removed.`;
    },
  };
}

export function revokeAction(name: string, permit: { id: string; slot: number; acquirer: string }, done: Done): Action {
  return {
    title: `Revoke the permit of ${permit.acquirer}`,
    explanation: `Takes slot ${permit.slot} of ${name} away at once: the run's signal aborts, and another node may take over.`,
    verb: 'Revoke',
    isDangerous: true,
    run: async (reason) => {
      const body = { permitId: permit.id, reason };
      const { revoked } = await call<{ revoked: boolean }>(`${pathOf(name)}/revoke`, { method: 'POST', body });
      await done();
      return revoked ? `The permit of ${permit.acquirer} is revoked.` : 'It was not held any more.';
    },
  };
}

async function post(name: string, verb: string, body: object, message: string, done: Done): Promise<string> {
  await call<DefinitionState>(`${pathOf(name)}/${verb}`, { method: 'POST', body });
  await done();
  return message;
}

function pathOf(name: string): string {
  return `semaphores/${encodeURIComponent(name)}`;
}
