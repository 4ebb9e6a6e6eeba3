import type { Bug } from './bug.js';
import { simulation } from './tasks.bugs.js';

/** Mistakes in the addresses and the fair turns of tasks. */
export const ADDRESSED_BUGS: readonly Bug[] = [
  {
    name: 'instance-not-looked-at',
    why: 'a node looks at the patterns of a target, and not at its instance: another process runs the task',
    patches: [
      {
        file: 'lib/tasks/rules/target.ts',
        find: '  if (instance !== undefined && instance !== node.instance) return false;\n',
        replace: '',
      },
    ],
    layer: simulation(/T13 .* was claimed by/, ['addressed']),
  },
  {
    name: 'moved-from-the-living',
    why: 're-addressing does not look whether the process lives: its tasks move to other nodes when they wait for a while',
    patches: [
      {
        file: 'lib/tasks/sweep/readdressing.ts',
        find: '      if (living.some(({ instance }) => instance === target.instance)) continue;\n',
        replace: '',
      },
    ],
    layer: simulation(/T13 .* which lives/, ['addressed', 'slow']),
  },
  {
    name: 'moved-out-of-its-group',
    why: 'a task whose process is gone moves to any node that handles its type, and not to one that its patterns match',
    patches: [
      {
        file: 'lib/tasks/sweep/readdressing.ts',
        find: 'return isHandled === true && isTarget(patterns, node);',
        replace: 'return isHandled === true && isTarget({ ...patterns, group: undefined } as TaskTarget, node);',
      },
    ],
    layer: simulation(/T13 .* does not match/, ['addressed', 'crash']),
  },
  {
    name: 'moved-once-only',
    why: 'the node that sweeps looks once for processes that are gone: a task of one that ends later waits for ever',
    patches: [
      {
        file: 'lib/tasks/sweep/readdressing.ts',
        find: 'this.#next = isMore ? -Infinity : at + INTERVAL;',
        replace: 'this.#next = isMore ? -Infinity : Infinity;',
      },
    ],
    layer: simulation(/T1 not done/, ['addressed', 'crash']),
  },
  {
    name: 'fair-turn-stands-still',
    why: 'the turn of a fair key never goes on: a key with many tasks starves the keys behind it',
    patches: [{ file: 'lib/tasks/records/fair-rotation.ts', find: '      line.key = turn.key;\n', replace: '' }],
    layer: simulation(/T14/, ['fair']),
  },
  {
    name: 'lost-ticket-stays-lost',
    why: 'the sweep offers no new tickets: a task with a fair key whose ticket got lost waits for ever',
    patches: [
      {
        file: 'lib/tasks/sweep/task-sweep.ts',
        find: "      ['untimed', () => this.#ticketsLost(now)],\n",
        replace: '',
      },
    ],
    layer: simulation(/T1 not done/, ['fair', 'hints']),
  },
];
