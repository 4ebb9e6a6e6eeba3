import type { Bug } from './bug.js';
import { LONG, simulation } from './tasks.bugs.js';

/** Mistakes in the protocol of cron schedules. A quarter of the simulated runs have one. */
export const SCHEDULES_BUGS: readonly Bug[] = [
  {
    name: 'thawed-node-submits',
    why: 'a node that was frozen submits a tick by a record that it saw before: the tick runs again when it is forgotten',
    patches: [
      {
        file: 'lib/tasks/schedules/schedule-records.ts',
        find: 'const limits = { isLate: seen.isOld, withoutHint: true };',
        replace: 'const limits = { withoutHint: true };',
      },
    ],
    layer: simulation(/C1/, ['freeze', 'cut']),
  },
  {
    name: 'decided-and-not-pending',
    why: 'a tick is noted as decided only: if the node crashes before it submits the tick, no other node does',
    patches: [
      {
        file: 'lib/tasks/schedules/schedule-reconciler.ts',
        find: 'if (pending.length > 0) {',
        replace: 'if (pending.length > 0 && seen.record.by === this.parts.context.node.instance) {',
      },
    ],
    layer: simulation(/C3/, ['crash', 'cut']),
  },
  {
    name: 'own-knowledge-counts',
    why: 'a node decides by the ticks that it knows, and not by those in the record: it decides about ticks of other nodes again',
    patches: [
      {
        file: 'lib/tasks/schedules/schedule-reconciler.ts',
        find: 'const known = Math.max(last, this.#seen?.record.last ?? last);',
        replace: 'const known = Math.min(last, this.#seen?.record.last ?? last);',
      },
    ],
    layer: simulation(/C1|C2/, [], LONG),
  },
  {
    name: 'former-run-ignored',
    why: 'in the modes that wait for the former run, a tick is submitted before that has ended',
    patches: [
      {
        file: 'lib/tasks/schedules/schedule-reconciler.ts',
        find: "this.schedule.mode === 'once-per-tick' || run === undefined",
        replace: "run === undefined || name !== ''",
      },
    ],
    layer: simulation(/C4/, []),
  },
];
