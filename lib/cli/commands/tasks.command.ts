import { Argument, Command, Option } from 'commander';
import { TASK_COLUMNS, TYPE_COLUMNS, countsText, typeRows } from '../../console/lists/tasks.js';
import { TASK_PREFIX, quoted } from '../../core/decision/index.js';
import {
  LISTED_STATES,
  type ListedState,
  type TaskPage,
  type TaskView,
  idFault,
  type HandledType,
  type TaskDetails,
  type WaitingType,
} from '../../tasks/index.js';
import { CommandFailure, EXIT, type ExitCode, UsageFailure, exitCodeOf } from '../options/exit-code.js';
import { readJsonFile } from '../options/json-file.js';
import { OPERATIONS, type Operator } from '../operator/operator.js';
import { limitOption, readTaskType, reasonOption } from '../options/option-readers.js';
import type { Runner, Session } from '../session/session.js';
import { type SubmissionOptions, submissionOf, submissionOptions } from '../operator/submission-options.js';
import { plain } from '../text/plain.js';
import { cellsOf, fields, table } from '../text/table.js';
import { timeText } from '../../console/lists/texts.js';

const ACTIONS = [
  'types',
  'list',
  'explain',
  'submit',
  'cancel',
  'cancel-group',
  'retry',
  'release',
  'pause',
  'resume',
] as const;
type Action = (typeof ACTIONS)[number];

interface Options extends SubmissionOptions {
  readonly reason?: string;
  readonly state: ListedState;
  readonly type?: string;
  readonly limit: number;
  readonly data?: string;
  readonly dataFile?: string;
}

type Run = (session: Session, operator: Operator, subject: string, options: Options) => Promise<ExitCode | void>;

export function tasksCommand(runner: Runner): Command {
  const command = new Command('tasks')
    .description('list, explain, submit, cancel, retry and release tasks, cancel a group, and pause or resume a type')
    .addArgument(new Argument('<action>', 'what to do').choices(ACTIONS))
    .argument(
      '[subject]',
      'id of the task, such as mail:order-7, or of the group: import[june]; for pause and resume: the type',
    )
    .addOption(
      new Option('--state <state>', 'for list: dead are those that ended without success')
        .choices(LISTED_STATES)
        .default('dead'),
    )
    .option('--type <type>', 'for list: only tasks of this type', readTaskType)
    .addOption(limitOption())
    .option('--data <json>', 'for submit: data of the task, as JSON')
    .option('--data-file <file>', 'for submit: file with the data as JSON; "-" is standard input')
    .addOption(reasonOption());
  for (const option of submissionOptions()) command.addOption(option);
  return command.action(
    runner.action<Options, [Action, string | undefined]>((session, options, action, subject) => {
      const needed = SUBJECTS[action];
      if ((subject === undefined) !== (needed === undefined)) {
        throw new UsageFailure(`give: tasks ${action}${needed === undefined ? '' : ` ${needed}`}`);
      }
      const fault = needed === '<id>' ? idFault(subject) : undefined;
      if (fault !== undefined) throw new UsageFailure(`the id of a task can't be used: ${fault}`);
      return session.operate((operator) => RUNS[action](session, operator, subject ?? '', options));
    }),
  );
}

const SUBJECTS: Record<Action, string | undefined> = {
  types: undefined,
  list: undefined,
  explain: '<id>',
  submit: '<id>',
  cancel: '<id>',
  'cancel-group': '<id>',
  retry: '<id>',
  release: '<id>',
  pause: '<type>',
  resume: '<type>',
};

const RUNS: Record<Action, Run> = {
  types: async ({ output }, operator) => {
    const { waiting, isCut, here } = await operator.call(OPERATIONS.taskTypes);
    output.result({ waiting, isCut, here }, typesText);
    if (isCut) output.note(MORE_TYPES);
  },
  list: async ({ output }, operator, _, options) => {
    const found = await collect(operator, options);
    output.result(found, tasksText);
    if (found.leftOut === 0) return EXIT.done;
    output.note(LEFT_OUT(found.leftOut));
    return EXIT.failed;
  },
  explain: async ({ output }, operator, id) => {
    const { task, explanation } = await operator.call(OPERATIONS.task, { params: { id } });
    output.result({ task, explanation }, taskText);
  },
  submit: async ({ output }, operator, id, options) => {
    const data = dataOf(options);
    const body = { id, ...submissionOf(options), ...(data !== undefined && { data }) };
    const answer = await operator.call(OPERATIONS.submitTask, { body });
    output.result(answer, () => plain(`${answer.id}: ${answer.outcome} (${answer.because})`));
  },
  cancel: async ({ output }, operator, id, { reason }) => {
    const answer = await operator.call(OPERATIONS.cancelTask, { params: { id }, body: { reason } });
    output.result(answer, () => plain(`${id}: ${answer.outcome} (${answer.because})`));
  },
  'cancel-group': async ({ output }, operator, id, { reason }) => {
    const answer = await operator.call(OPERATIONS.cancelTaskGroup, { params: { id }, body: { reason } });
    output.result(answer, () => plain(`${id}: ${answer.outcome} (${answer.because})`));
  },
  retry: async ({ output }, operator, id, { reason }) => {
    const answer = await operator.call(OPERATIONS.retryTask, { params: { id }, body: { reason } });
    output.result(answer, () => plain(`${id}: runs again (${answer.because})`));
  },
  release: async ({ output }, operator, id, { reason }) => {
    const answer = await operator.call(OPERATIONS.releaseTask, { params: { id }, body: { reason } });
    output.result(answer, () => plain(`${id}: waits again (${answer.because})`));
  },
  pause: (session, operator, type, options) => switched(session, operator, 'pause', { type, ...options }),
  resume: (session, operator, type, options) => switched(session, operator, 'resume', { type, ...options }),
};

/** Reads page after page, because a page may be empty although more follow. */
async function collect(operator: Operator, { state, type, limit }: Options): Promise<TaskPage> {
  const found: TaskView[] = [];
  let leftOut = 0;
  for (let from: string | undefined, isFirst = true; isFirst || from !== undefined; isFirst = false) {
    const page = await operator.call(OPERATIONS.tasks, { query: { state, type, from } });
    found.push(...page.tasks);
    leftOut += page.leftOut;
    from = found.length < limit ? page.next : undefined;
  }
  return { tasks: found.slice(0, limit), leftOut };
}

const LEFT_OUT = (count: number) =>
  `gatekeeper: ${count} of the tasks that were read can't be read here, and are left out: of a newer version, or of another program`;

const MORE_TYPES = 'gatekeeper: not all types are listed: tasks of more types may wait';

/** @throws UsageFailure */
function dataOf({ data, dataFile }: Options): unknown {
  if (data !== undefined && dataFile !== undefined) throw new UsageFailure('give either --data or --data-file');
  if (dataFile !== undefined) return readJsonFile('--data-file', dataFile);
  try {
    return data === undefined ? undefined : JSON.parse(data);
  } catch (cause) {
    throw new UsageFailure(`--data is not JSON (${(cause as Error).message}): quote text as '"text"'`, { cause });
  }
}

/** Pauses or resumes the limit of a type. */
async function switched(
  { output }: Session,
  operator: Operator,
  verb: 'pause' | 'resume',
  { type, reason }: { readonly type: string; readonly reason?: string },
): Promise<void> {
  try {
    await operator.call(OPERATIONS[verb], { params: { name: TASK_PREFIX + type }, body: { reason } });
  } catch (error) {
    if (exitCodeOf(error) !== EXIT.notFound) throw error;
    throw new CommandFailure(EXIT.notFound, NO_LIMIT(type), { cause: error });
  }
  output.result({ type, action: verb }, () => plain(`${type}: ${DONE[verb]}`));
}

const DONE = {
  pause: 'paused in the whole cluster until it is resumed, also after restarts',
  resume:
    'resumed in the whole cluster; a type that was switched off on one node stays off there until that node restarts',
};

const NO_LIMIT = (type: string) =>
  `type ${quoted(type)} has no limit: make one first, with "gatekeeper define ${TASK_PREFIX}${type} --permits 1000 --duration 1m"`;

/** Formats tasks, one line each. */
function tasksText({ tasks }: { readonly tasks: readonly TaskView[] }): string {
  return tasks.length > 0 ? table(...cellsOf(TASK_COLUMNS, tasks)) : 'no tasks';
}

/** Formats the types of which tasks wait, and those that the answering node handles. */
function typesText({
  waiting,
  here,
}: {
  readonly waiting: readonly WaitingType[];
  readonly here: readonly HandledType[];
}): string {
  const types = typeRows(waiting, here);
  return types.length > 0 ? table(...cellsOf(TYPE_COLUMNS, types)) : 'no tasks wait';
}

/** Formats one task. */
function taskText({ task, explanation }: TaskDetails): string {
  const json = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value));
  return [
    `${task.id}: ${explanation.sentence}`,
    fields([
      ['state', task.state],
      ['token', String(task.token)],
      ['submitted', timeText(task.submittedAt)],
      ['attempts', countsText(task)],
      ['data', json(task.data)],
      ['result', json(task.result)],
    ]),
  ].join('\n');
}
