import type { SemaphoreOverview } from '../api/answers.js';
import { call } from '../api/call.js';
import type { Action } from '../forms/action-dialog.js';
import { count } from '../parts/format.js';
import { goTo } from '../parts/router.js';
import { listHref } from '../semaphores/list-place.js';

/* The actions of a semaphore's page. */

/** Loads the page's data again after the change. */
type Done = () => Promise<void>;

export function pauseAction({ name }: SemaphoreOverview, done: Done): Action {
  return {
    title: `Pause ${name}`,
    explanation: 'No new run starts on any node until it is resumed. Runs that have started may finish.',
    verb: 'Pause',
    run: (reason) => change(call('pause', { params: { name }, body: { reason } }), `“${name}” is paused.`, done),
  };
}

export function resumeAction({ name }: SemaphoreOverview, done: Done): Action {
  return {
    title: `Resume ${name}`,
    explanation: 'Runs may start again on all matching nodes.',
    verb: 'Resume',
    run: (reason) => change(call('resume', { params: { name }, body: { reason } }), `“${name}” is resumed.`, done),
  };
}

/** Whether a reset to the code of the answering node would change anything. */
export function canReset({ code, source, isOverridden }: SemaphoreOverview): boolean {
  return code !== undefined && (source !== 'code' || isOverridden === true);
}

export function resetAction({ name, revision }: SemaphoreOverview, done: Done): Action {
  return {
    title: `Reset ${name} to the code`,
    explanation: 'Restores the definition in code. It applies from the very next decision of every node.',
    verb: 'Reset',
    run: (reason) =>
      change(
        call('reset', { params: { name }, body: { reason, expectedRevision: revision } }),
        `“${name}” is reset to the definition in code.`,
        done,
      ),
  };
}

/** Why a semaphore can't be removed, and what to do. @param definedBy names of the living nodes whose code defines it */
export function unremovableSentence([first, ...others]: readonly string[]): string | undefined {
  if (first === undefined) return undefined;
  const more = others.length > 0 ? `, and of ${count(others.length, 'more node')},` : '';
  return `Can’t be removed: the code of ${first}${more} defines it. Pause it, or take it out of the code.`;
}

export function removeAction({ name }: SemaphoreOverview): Action {
  return {
    title: `Remove ${name}`,
    explanation: 'Removes the definition with all its permits. No job runs under it until it is defined again.',
    verb: 'Remove',
    isDangerous: true,
    confirmation: name,
    run: async (reason) => {
      await call('remove', { params: { name }, body: { reason } });
      goTo(listHref());
      return `“${name}” is removed.`;
    },
  };
}

export function revokeAction(name: string, permit: { id: string; slot: number; acquirer: string }, done: Done): Action {
  return {
    title: `Revoke the permit of ${permit.acquirer}`,
    explanation: `Frees slot ${permit.slot} of ${name} at once: the run's signal aborts, and another node may take over.`,
    verb: 'Revoke',
    isDangerous: true,
    run: async (reason) => {
      const body = { permitId: permit.id, reason };
      const { revoked } = await call('revoke', { params: { name }, body });
      await done();
      return revoked ? `The permit of ${permit.acquirer} is revoked.` : 'The permit was no longer held.';
    },
  };
}

/** Waits for the answer, and says that the change was made. */
async function change(made: Promise<unknown>, message: string, done: Done): Promise<string> {
  await made;
  await done();
  return message;
}
