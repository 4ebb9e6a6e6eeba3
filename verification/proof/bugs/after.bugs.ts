import type { Bug } from './bug.js';
import { LONG, simulation } from './tasks.bugs.js';

/** Mistakes in the protocol of tasks that wait for others. */
export const AFTER_BUGS: readonly Bug[] = [
  {
    name: 'starts-after-the-first',
    why: 'a task that waits for several others starts when the first of them has ended',
    patches: [
      {
        file: 'lib/tasks/rules/transitions.ts',
        find: 'return rest.length > 0 ? {',
        replace: 'return rest.length > after.length ? {',
      },
    ],
    layer: simulation(/T10 .* before/, [], LONG),
  },
  {
    name: 'blocked-and-forgotten',
    why: 'the submitter of a task dies before it looks whether the others have ended meanwhile, and the sweep does not look either',
    patches: [
      {
        file: 'lib/tasks/sweep/task-sweep.ts',
        find: "      ['untimed', () => this.#each('blocked', rangeOf('blocked', now), settle)],\n",
        replace: '',
      },
    ],
    // The end must come between two writes of the submitter, and the look after them must fail: once in 500 schedules.
    layer: simulation(/T1 not done/, ['crash', 'slow', 'calls'], 3000),
  },
  {
    name: 'failure-forgotten',
    why: 'a task runs although one that it waits for has failed',
    patches: [
      {
        file: 'lib/tasks/rules/transitions.ts',
        find: 'if (failed && !task.afterFailed)',
        replace: "if (failed?.outcome === 'crashed' && !task.afterFailed)",
      },
    ],
    layer: simulation(/T10 .* although/, [], LONG),
  },
  {
    name: 'cancelled-leaves-its-place',
    why: 'a task of a queue that is cancelled ends at once: the next one begins beside the one before it',
    patches: [
      {
        file: 'lib/tasks/rules/transitions.ts',
        find: "(task.state === 'blocked' && task.queue !== undefined)",
        replace: "(task.state === 'blocked' && task.queue === '')",
      },
    ],
    layer: simulation(/T11/, ['by-hand', 'slow']),
  },
  {
    name: 'last-without-its-place',
    why: 'the last task of a queue is replaced before it waits for the one before it: after a crash it gets a place behind its successor',
    patches: [
      {
        file: 'lib/tasks/records/serial-queues.ts',
        find: '      if (tail) await this.#link(tail.last, tail.before);\n',
        replace: '',
      },
    ],
    layer: simulation(/T11|T1 not done/, ['crash', 'slow', 'calls', 'cut'], LONG),
  },
];
