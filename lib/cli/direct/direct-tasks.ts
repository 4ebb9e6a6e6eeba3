import { TASK_PREFIX, omitUndefined, quoted } from '../../core/decision/index.js';
import type { Parts } from '../../gatekeeper/build.js';
import { detailsOf, expectNoSchedule, groupOfId, nameOfId, typeOfId } from '../../tasks/index.js';
import { CommandFailure, EXIT, UsageFailure } from '../options/exit-code.js';
import type { ChangeMeta, TaskOperator } from '../operator/operator.js';

/** Tasks on one page. */
const PAGE = 100;

interface Outcome {
  readonly outcome: string;
  readonly because: string;
}

/** Outcomes of calls that changed nothing. */
const UNCHANGED: ReadonlySet<string> = new Set(['ended', 'refused']);

/** Tasks directly in the store. @param by author of changes */
export function directTasks({ tasks, audit }: Parts, by: string): TaskOperator {
  /**
   * Makes a change and notes it in the audit log, also if its answer was lost.
   *
   * @throws CommandFailure if there is no such task
   */
  const noted = async <T extends Outcome>(
    action: 'cancel-task' | 'cancel-group' | 'retry-task' | 'release-task',
    task: string,
    { reason }: ChangeMeta,
    make: () => Promise<T>,
  ): Promise<T> => {
    const entry = { action, semaphore: TASK_PREFIX + typeOfId(task), by, ...omitUndefined({ reason }), task };
    const answer = await audit.evenIfUnknown(() => entry, make);
    if (answer.outcome === 'unknown') throw unknown(task, answer.because);
    if (!UNCHANGED.has(answer.outcome)) audit.note(entry);
    return answer;
  };
  return {
    types: async () => {
      const { types, isCut } = await tasks.waitingTypes();
      return { waiting: types, isCut, here: [] };
    },
    list: ({ state, type }, from) => {
      const isWanted = (each: string) => type === undefined || each === type;
      return tasks.list({ state, isWanted, limit: PAGE, from });
    },
    find: async (id) => {
      const details = detailsOf(await tasks.explain(id));
      if (typeof details === 'string') throw unknown(id, details);
      return details;
    },
    submit: async ({ id, total, data, delay, ...options }) => {
      const name = nameOfId(id, total);
      expectNoSchedule(name.type);
      const entry = { action: 'submit-tasks', semaphore: TASK_PREFIX + name.type, by, count: 1, task: id } as const;
      const submitting = () => tasks.submit(name, data, { ...options, ...(delay !== undefined && { runAt: delay }) });
      const answer = await audit.evenIfUnknown(() => entry, submitting);
      if (answer.outcome !== 'known') audit.note({ ...entry, task: answer.id });
      return answer;
    },
    cancel: (id, meta) =>
      noted('cancel-task', id, meta, () => tasks.cancel(id, { by, ...omitUndefined({ reason: meta.reason }) })),
    cancelGroup: async (id, meta) => {
      const group = groupOfId(id);
      if (!group) throw new UsageFailure(`${quoted(id)} is no id of a group: give one such as import[june]`);
      const signed = { by, ...omitUndefined({ reason: meta.reason }) };
      return noted('cancel-group', id, meta, () => tasks.cancelGroup(group.type, group.group, signed));
    },
    release: async (id, meta) => {
      const answer = await noted('release-task', id, meta, () => tasks.release(id));
      if (answer.outcome === 'refused')
        throw new CommandFailure(EXIT.conflict, `task ${quoted(id)}: ${answer.because}`);
      return answer;
    },
    retry: async (id, meta) => {
      const answer = await noted('retry-task', id, meta, () => tasks.retry(id));
      if (answer.outcome === 'refused')
        throw new CommandFailure(EXIT.conflict, `task ${quoted(id)}: ${answer.because}`);
      return answer;
    },
  };
}

function unknown(id: string, why: string): CommandFailure {
  return new CommandFailure(EXIT.notFound, `task ${quoted(id)}: ${why}`);
}
