import { parentPort } from 'node:worker_threads';
import type { Job } from './crew.js';
import { survey } from './survey.js';

/** Carries out what the crew hands it, one job after another; ended by the crew. */
parentPort!.on('message', ({ first, count, options }: Job) => {
  void survey(first, count, options).then((result) => parentPort!.postMessage(result));
});
