import type { Bug } from './bug.js';

/** Mistakes of the node that looks after all records. */
export const SWEEP_BUGS: readonly Bug[] = [
  {
    name: 'sweeper-forgets',
    why: 'the sweeping node keeps no copy of the permits that it sees: if the store loses them after their node died, they are granted again without a grace',
    patches: [{ file: 'lib/core/cell/cluster-sweep.ts', find: 'this.#watched.set(name, cell);', replace: '' }],
    layer: { kind: 'specs', title: 'unit', specs: ['test/core/cell/sweeping.spec.ts'] },
  },
  {
    name: 'old-page-believed',
    why: 'a sweep goes on after a freeze with the page that it read before: what stands there counts as the present state',
    patches: [
      {
        file: 'lib/core/cell/cluster-sweep.ts',
        find: 'if (cell && mayGoOn()) await this.maintainer.examine(cell, text);',
        replace:
          'if (cell) await this.maintainer.examine(cell, text, (mayGoOn(), this.context.clusterClock.earliest()));',
      },
    ],
    layer: { kind: 'specs', title: 'unit', specs: ['test/core/cell/sweeping.spec.ts'] },
  },
];
