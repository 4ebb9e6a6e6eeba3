import { TASK_PREFIX, quoted } from '../../decision/index.js';
import type { Parts } from '../../gatekeeper/parts.js';
import { detailsOf, groupOfId, nameOfId, typeOfId } from '../../tasks/index.js';
import { CommandFailure, EXIT, UsageFailure } from '../exit-code.js';
import type { TaskOperator } from '../operator.js';

/** Tasks on one page. */
const PAGE = 100;

/** Tasks directly in the store. @param by author of changes */
export function directTasks({ tasks, audit }: Parts, by: string): TaskOperator {
  const note = (action: 'cancel-task' | 'cancel-group' | 'retry-task', task: string, reason: string | undefined) =>
    audit.note({
      action,
      semaphore: TASK_PREFIX + typeOfId(task),
      by,
      ...(reason !== undefined && { reason }),
      task,
    });
  return {
    types: async () => ({ waiting: await tasks.waitingTypes(), here: [] }),
    list: ({ state, type }, from) => {
      const isWanted = (each: string) => type === undefined || each === type;
      return tasks.list({ state, isWanted, limit: PAGE, from });
    },
    find: async (id) => {
      const details = detailsOf(await tasks.explain(id));
      if (typeof details === 'string') throw unknown(id, details);
      return details;
    },
    submit: async ({ id, total, data, delay, ...options }) =>
      tasks.submit(nameOfId(id, total), data, { ...options, ...(delay !== undefined && { runAt: delay }) }),
    cancel: async (id, { reason }) => {
      const answer = await tasks.cancel(id, { by, ...(reason !== undefined && { reason }) });
      if (answer.outcome === 'unknown') throw unknown(id, answer.because);
      if (answer.outcome !== 'ended') note('cancel-task', id, reason);
      return answer;
    },
    cancelGroup: async (id, { reason }) => {
      const group = groupOfId(id);
      if (!group) throw new UsageFailure(`${quoted(id)} is no id of a group: give one such as import[june]`);
      const answer = await tasks.cancelGroup(group.type, group.group, { by, ...(reason !== undefined && { reason }) });
      if (answer.outcome === 'unknown') throw unknown(id, answer.because);
      if (answer.outcome === 'cancelled') note('cancel-group', id, reason);
      return answer;
    },
    retry: async (id, { reason }) => {
      const answer = await tasks.retry(id);
      if (answer.outcome === 'unknown') throw unknown(id, answer.because);
      if (answer.outcome === 'refused')
        throw new CommandFailure(EXIT.conflict, `task ${quoted(id)}: ${answer.because}`);
      note('retry-task', id, reason);
      return answer;
    },
  };
}

function unknown(id: string, why: string): CommandFailure {
  return new CommandFailure(EXIT.notFound, `task ${quoted(id)}: ${why}`);
}
