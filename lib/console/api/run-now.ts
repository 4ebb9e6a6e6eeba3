import { omitUndefined, onlyFields } from '../../core/decision/index.js';
import { runNowPlanSchema, runNowStatusSchema } from '../../operate/run-now/answers.js';
import { durationOrZero, name, reason, text } from './fields.js';
import { operation } from './operation.js';

/* The calls that run a job now. */

/** The longest time in ms that a request waits for the end of a run. */
const LONGEST_WAIT = 30_000;

const wait = durationOrZero(LONGEST_WAIT).meta({
  id: 'RunWait',
  type: 'string',
  pattern: '^(0|([1-9]|[12][0-9]|30) ?s|[1-9][0-9]{0,3}|[12][0-9]{4}|30000)$',
  examples: ['5s', '30s'],
  description: 'longest wait for the end of the run: ms, or text such as "5s". Default 0',
});

const run = 'api/semaphores/:name/run';

export const RUN_NOW_OPERATIONS = {
  runPlan: operation({
    operationId: 'getRunPlan',
    method: 'GET',
    path: run,
    summary: 'The jobs that could be run now, on which nodes, and the latest requests for a run',
    description:
      '`jobs` has for each job the `nodes` that may run it now, or an `obstacle`. `holders` has the names of the nodes that hold ' +
      'its permits now. `requests` has the latest ten.',
    role: 'view',
    params: onlyFields({ name }),
    answer: runNowPlanSchema,
    problems: ['unknown-semaphore', 'reserved-name', 'corrupt-record', 'newer-record'],
    run: ({ runNow }, { params }) => runNow.plan(params.name),
  }),
  runNow: operation({
    operationId: 'runNow',
    method: 'POST',
    path: run,
    summary: 'Run a job now, on a node that may run it: the first that gets a permit takes it',
    description:
      'Needs `job` if the semaphore has several. Waits for the end of the run up to `wait` (0, at most 30s).',
    role: 'operate',
    writes: true,
    params: onlyFields({ name }),
    body: onlyFields({
      job: name.optional().meta({ ...name.meta(), description: 'needed if the semaphore has several jobs' }),
      wait: wait.default(0),
      reason: reason.optional(),
    }).meta({ id: 'RunNowRequest' }),
    answer: runNowStatusSchema,
    problems: ['unknown-semaphore', 'cannot-run', 'run-requested', 'too-many-waits'],
    run: ({ runNow }, { params, body }, caller) => {
      const target = omitUndefined({ semaphore: params.name, job: body.job });
      const options = { by: caller.user, timeout: body.wait, ...omitUndefined({ reason: body.reason }) };
      // The place among the waiting calls comes first: a refusal must mean that nothing was asked for.
      return caller.limits.waiting('runs', caller, body.wait, () => runNow.run(target, options, caller.signal));
    },
  }),
  runStatus: operation({
    operationId: 'getRunRequest',
    method: 'GET',
    path: `${run}/:id`,
    summary: 'What became of a request for a run; waits for its end up to `wait`',
    role: 'view',
    params: onlyFields({ name, id: text(100) }),
    query: onlyFields({ wait: wait.default(0) }),
    answer: runNowStatusSchema,
    problems: ['unknown-run', 'reserved-name', 'corrupt-record', 'newer-record', 'too-many-waits'],
    run: ({ runNow }, { params, query }, caller) => {
      const options = { timeout: query.wait, signal: caller.signal };
      return caller.limits.waiting('runs', caller, query.wait, () => runNow.follow(params.name, params.id, options));
    },
  }),
};
