import { parentPort } from 'node:worker_threads';
import { surveyKind } from './kind/schedule-kind.js';
import type { SeedRange } from './worker-pool.js';
import { survey } from './survey.js';

/** Carries out what the pool hands it, one range of seeds after another; ended by the pool. */
parentPort!.on('message', (range: SeedRange) => {
  void carryOut(range).then((result) => parentPort!.postMessage(result));
});

function carryOut({ first, count, ...range }: SeedRange): Promise<unknown> {
  if (range.kind === 'permits') return survey(first, count, range.options);
  return surveyKind(range.kind, first, count, range.options);
}
