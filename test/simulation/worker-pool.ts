import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ScheduleOptions } from './schedule.js';
import { type Survey, sumOf } from './survey.js';

/** A run of seeds that one worker carries out. */
export interface SeedRange {
  readonly first: number;
  readonly count: number;
  readonly options: ScheduleOptions;
}

/** So many seeds at once: few enough that the workers finish together. */
const BATCH = 200;

/**
 * Spreads schedules over threads. Each schedule follows from its seed alone, so that what comes out is the same with
 * any number of them.
 */
export class WorkerPool {
  readonly #workers: Worker[];

  /** @param argv what run.mjs is to read in each worker; by default what it read here, so that a bug is in all of them */
  constructor(size: number, argv: readonly string[] = process.argv.slice(2)) {
    this.#workers = Array.from(
      { length: size },
      () => new Worker(new URL('./run.mjs', import.meta.url), { argv: [...argv] }),
    );
  }

  async survey(first: number, count: number, options: ScheduleOptions): Promise<Survey> {
    const end = first + count;
    let next = first;
    const parts: Survey[] = [];
    const keepBusy = async (worker: Worker) => {
      while (next < end) {
        const range: SeedRange = { first: next, count: Math.min(BATCH, end - next), options };
        next += range.count;
        parts.push(await this.#carryOut(range, worker));
      }
    };
    await Promise.all(this.#workers.map(keepBusy));
    return sumOf(parts);
  }

  async #carryOut(range: SeedRange, worker: Worker): Promise<Survey> {
    worker.postMessage(range);
    const [part] = (await once(worker, 'message')) as [Survey];
    return part;
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
