import fc from 'fast-check';
import { runs } from '../support/runs.js';
import { moves } from './moves.js';
import { PlainModel } from './plain-model.js';
import { RealCluster } from './real-cluster.js';

describe('three nodes over a store', () => {
  it('do whatever a plain list of permits would do, move for move', async () => {
    await fc.assert(
      fc.asyncProperty(moves, async (commands) => {
        const real = await RealCluster.start();
        const model = new PlainModel();
        model.now = real.now;
        try {
          await fc.asyncModelRun(() => ({ model, real }), commands);
        } finally {
          await real.close();
        }
      }),
      { numRuns: runs(100), seed: 20_261_121 },
    );
  });
});
