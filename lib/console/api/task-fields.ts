import { z } from 'zod';
import { LONGEST_DURATION, durationSchema, isTaskType, onlyFields, show } from '../../core/decision/index.js';
import {
  LARGEST_DATA,
  LARGEST_GROUP,
  LISTED_STATES,
  LONGEST_TASK_ID,
  PRIORITIES,
  groupOfId,
  idFault,
} from '../../tasks/index.js';
import { duration, durationOrZero, flag, flagText, limitText, line, name, pattern, text, wait } from './fields.js';

/* The parts of requests about tasks. */

/** Bytes of a body with data or a result: the largest that an option allows, and the rest of the request. */
export const LARGEST_TASK_BODY = LARGEST_DATA + 64 * 1024;
/** The most tasks of one claim, and the most types that it names. */
const MOST_CLAIMED = 20;
const MOST_TYPES = 20;
/** Characters of an error's message and stack; the store keeps the first 2,000 and 4,000. */
const LONGEST_ERROR = 20_000;
/** Tasks and groups for which one task waits. */
const MOST_AWAITED = 100;
/** Characters of a key of unique tasks, and of a fair key. */
const LONGEST_KEY = 200;
/** Characters of the instance of a node. */
const LONGEST_INSTANCE = 100;
/** Characters of a note about progress. */
const LONGEST_NOTE = 200;
/** The last ms of the year 9999. */
const LATEST_TIME = 253_402_300_799_999;

/** The id of a task. */
export const taskId = z
  .custom<string>((value) => idFault(value) === undefined, { error: ({ input }) => idFault(input) })
  .meta({
    type: 'string',
    maxLength: LONGEST_TASK_ID,
    pattern: String.raw`^[A-Za-z0-9_.-]{1,64}[:\[][^\x00-\x1F\x7F-\x9F]+$`,
    description: '"type:name", or "type[group]#number" for a member of a group',
    examples: ['mail:order-7', 'import[june]#12'],
  });

/** Matches the name of a task or of a group. Only names of sub-tasks begin with "^". */
const NAME = String.raw`[^^\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]{0,199}`;

/** The id of a task to submit. The submission itself checks its parts. */
const newTaskId = taskId.meta({
  ...taskId.meta(),
  pattern: `^[A-Za-z0-9_.-]{1,64}(:${NAME}|\\[${NAME}\\]#([1-9][0-9]{0,5}|1000000))$`,
});

/** A key of unique tasks, or a fair key. The submission itself checks it. */
const key = text(LONGEST_KEY).meta({ minLength: 1, pattern: `^${NAME}$` });

/** The instance of a node. */
const instance = line(LONGEST_INSTANCE).meta({
  type: 'string',
  minLength: 1,
  maxLength: LONGEST_INSTANCE,
  pattern: String.raw`^[^\x00-\x1F\x7F-\x9F]+$`,
});

/** How long a task is remembered. The submission itself checks the minimum of a minute. */
const retention = durationSchema.meta({
  id: 'Retention',
  anyOf: [
    { type: 'integer', format: 'int64', minimum: 60_000, maximum: LONGEST_DURATION },
    { type: 'string', pattern: '^([1-9][0-9]{0,4} ?m|[1-9][0-9]{0,2} ?h|[1-9][0-9]? ?d)$', examples: ['1h', '7d'] },
  ],
  description: 'ms, or text such as "1h", "7d"; 1 minute or more',
});

export const taskType = z
  .custom<string>((value) => typeof value === 'string' && isTaskType(value), {
    error: ({ input }) => `${show(input)} is not 1 to 64 letters, digits, "_", "." or "-"`,
  })
  .meta({ type: 'string', pattern: '^[A-Za-z0-9_.-]{1,64}$', description: 'type of tasks', examples: ['mail'] });

export const taskToken = z
  .int({ error: ({ input }) => `${show(input)} is not a fencing token` })
  .min(1, { error: ({ input }) => `${show(input)} is not a fencing token` })
  .meta({ description: 'fencing token of the attempt, from the answer to the claim' });

export const taskParams = onlyFields({ id: taskId });

const json = z.unknown().meta({ description: 'any JSON value' });
const whole = (least: number, most: number) =>
  z
    .int({ error: ({ input }) => `${show(input)} is not a whole number` })
    .min(least)
    .max(most);
const choice = <const Choices extends readonly string[]>(choices: Choices) =>
  z.enum(choices, { error: ({ input }) => `${show(input)} is not one of ${choices.join(', ')}` });

/** The most entries of a list are checked before the entries. */
const few = <T extends z.ZodType>(schema: T, most: number) =>
  z
    .array(schema)
    .min(1, { error: 'is empty' })
    .max(most, { error: `has more than ${most} entries` });

export const submitTaskBody = onlyFields({
  id: newTaskId,
  total: whole(0, LARGEST_GROUP).optional().meta({ description: 'number of members of its group, if it is known' }),
  data: json.optional(),
  priority: choice(PRIORITIES).optional(),
  runAt: whole(0, LATEST_TIME).optional().meta({ description: 'when it may run: ms since the epoch, cluster time' }),
  delay: duration.optional().meta({ description: 'how long it waits; give this or runAt' }),
  maxAttempts: whole(1, 1000).optional(),
  maxCrashes: whole(1, 1000).optional(),
  backoff: onlyFields({ first: duration.optional(), longest: duration.optional() }).meta({ id: 'Backoff' }).optional(),
  retention: retention.optional().meta({ description: 'how long it is remembered if it completes; 1 minute or more' }),
  deadLetterRetention: retention.optional().meta({ description: 'the same, if it does not complete' }),
  failGroupFast: flag.optional().meta({ description: 'whether its group stops if it does not complete' }),
  dedup: choice(['unfinished', 'retained']).optional().meta({ description: 'when the same id is ignored' }),
  after: few(taskId, MOST_AWAITED)
    .optional()
    .meta({ description: 'ids of tasks, and of groups ("type[group]"), that must end before it may run' }),
  afterFailed: choice(['cancel', 'run']).optional().meta({ description: 'whether it runs if one of them fails' }),
  unique: onlyFields({
    key: key.optional().meta({ description: 'replaces the name of the task; default: the name' }),
    during: choice(['waiting', 'unfinished']).optional(),
    onConflict: choice(['keep', 'replace']).optional(),
  })
    .meta({ id: 'UniqueTask' })
    .optional()
    .meta({ description: 'the rule for a task of the same key that has not ended' }),
  to: onlyFields({
    group: pattern.optional(),
    acquirer: pattern.optional(),
    instance: instance.optional().meta({ description: 'one process' }),
    orAnother: z
      .boolean()
      .optional()
      .meta({ description: 'true: it moves to another node when the process of `instance` is gone; default: false' }),
  })
    .meta({ id: 'TaskAddress' })
    .optional()
    .meta({ description: 'the nodes that may run it: all that is given must match; default: all nodes' }),
  fairKey: key.optional().meta({ description: 'tasks of different keys are taken in turn; not together with "to"' }),
}).meta({ id: 'SubmitTaskRequest' });

/** Characters of a mark: the begin of a text of the store, encoded. */
const LONGEST_MARK = 8000;

export const tasksQuery = onlyFields({
  state: choice(LISTED_STATES)
    .default('waiting')
    .meta({ description: 'dead: ended without success. Default: waiting', examples: ['dead'] }),
  type: taskType.optional(),
  limit: limitText(100, 100),
  from: text(LONGEST_MARK).optional().meta({ description: '"next" of the page before' }),
});

const groupFault = (value: unknown): string | undefined => {
  const fault = idFault(value);
  if (fault !== undefined) return fault;
  return groupOfId(value as string) ? undefined : `${show(value)} is not "type[group]"`;
};

/** The id of a group of tasks. */
const taskGroupId = z
  .custom<string>((value) => groupFault(value) === undefined, { error: ({ input }) => groupFault(input) })
  .meta({
    type: 'string',
    maxLength: LONGEST_TASK_ID,
    pattern: String.raw`^[A-Za-z0-9_.-]{1,64}\[[^\x00-\x1F\x7F-\x9F]+\]$`,
    description: '"type[group]"',
    examples: ['import[june]'],
  });

export const taskGroupParams = onlyFields({ id: taskGroupId });
export const taskGroupsQuery = onlyFields({ type: taskType.optional() });
export const membersQuery = onlyFields({
  from: limitText(LARGEST_GROUP, 1),
  limit: limitText(100, 100),
});
export const subTasksQuery = onlyFields({
  page: limitText(LARGEST_GROUP, 1),
});
export const typeParams = onlyFields({ type: taskType });

export const taskTypesQuery = onlyFields({
  ifUsed: flagText.optional().meta({
    description: 'true: an empty answer, and nothing is asked of the store, if no living node uses tasks',
  }),
});

const lease = duration.default(30_000).meta({
  description:
    'how long the worker has the task, unless it renews it; default 30 s, at most 1 hour or the maxLease of the token',
});

/** Tells visitors apart who have no name of their own. */
const workerKey = text(100)
  .refine((value) => value.length >= 16, { error: 'is shorter than 16 characters' })
  .meta({
    type: 'string',
    minLength: 16,
    maxLength: 100,
    description: 'only for requests without a name (insecure, or guards that set no user): a secret of the worker',
  });

export const claimBody = onlyFields({
  types: few(taskType, MOST_TYPES).meta({ description: 'the types that the worker handles' }),
  max: whole(1, MOST_CLAIMED).default(1).meta({ description: 'the most tasks of the answer' }),
  lease,
  wait: wait.default(0),
  key: workerKey.optional(),
  acquirer: name
    .optional()
    .meta({ description: 'for the acquirer pattern of a limit; default: the name of the token' }),
  group: name.optional().meta({ description: "for the group pattern of a limit; default: the node's group" }),
}).meta({ id: 'ClaimTasksRequest' });

const amount = z
  .number({ error: ({ input }) => `${show(input)} is not a number` })
  .min(0, { error: ({ input }) => `${show(input)} is below 0` })
  .meta({ examples: [3] });
const progress = onlyFields({ done: amount, total: amount, note: line(LONGEST_NOTE).optional() }).meta({
  id: 'ReportedProgress',
  description: 'how far the attempt has come; shown to all users',
});

/** Fields in each call of a worker about its task: they name its claim. */
export const attemptShape = { token: taskToken, key: workerKey.optional() };

export const renewTaskBody = onlyFields({
  ...attemptShape,
  lease,
  progress: progress.optional(),
}).meta({
  id: 'RenewTaskRequest',
});
export const completeTaskBody = onlyFields({
  ...attemptShape,
  result: json.optional(),
}).meta({
  id: 'CompleteTaskRequest',
});

export const failTaskBody = onlyFields({
  ...attemptShape,
  message: text(LONGEST_ERROR).meta({ description: 'the error, for people' }),
  name: text(200).optional().meta({ description: 'class of the error' }),
  stack: text(LONGEST_ERROR).optional(),
  retryable: flag
    .default(true)
    .meta({ description: 'false: no attempt can succeed, so the task is a dead letter at once' }),
}).meta({ id: 'FailTaskRequest' });

export const retryLaterBody = onlyFields({
  ...attemptShape,
  after: durationOrZero(Infinity).meta({
    id: 'RetryAfter',
    anyOf: [
      { type: 'integer', format: 'int64', minimum: 0, maximum: 31_622_400_000 },
      { type: 'string', pattern: '^([1-9][0-9]{0,4} ?(s|m)|PT[1-9][0-9]{0,4}[SM])$', examples: ['5m', 'PT5M'] },
    ],
    description: 'ms, or text such as "5m": the time until the next attempt',
  }),
}).meta({ id: 'RetryTaskLaterRequest' });

export const giveBackBody = onlyFields(attemptShape).meta({
  id: 'GiveTaskBackRequest',
});
