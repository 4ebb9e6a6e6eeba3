import { parentPort } from 'node:worker_threads';
import type { SeedRange } from './worker-pool.js';
import { survey } from './survey.js';

/** Carries out what the pool hands it, one range of seeds after another; ended by the pool. */
parentPort!.on('message', ({ first, count, options }: SeedRange) => {
  void survey(first, count, options).then((result) => parentPort!.postMessage(result));
});
