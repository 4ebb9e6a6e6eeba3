import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { KindName, KindOptions } from './kind/schedule-kind.js';
import type { ScheduleOptions } from './schedule.js';
import { type Survey, sumOf } from './survey.js';

interface Seeds {
  readonly first: number;
  readonly count: number;
}

/** A run of seeds that one worker carries out. */
export type SeedRange = Seeds &
  (
    | { readonly kind: 'permits'; readonly options: ScheduleOptions }
    | { readonly kind: KindName; readonly options: KindOptions }
  );

/** So many seeds at once: few enough that the workers finish together. */
const BATCH = 200;
/** Schedules of the other kinds take longer. */
const LONG_BATCH = 10;

/**
 * Spreads schedules over threads. Each schedule follows from its seed alone, so that what comes out is the same with
 * any number of them.
 */
export class WorkerPool {
  readonly #workers: Worker[];

  /** @param argv what run.mjs is to read in each worker; by default what it read here, so that a bug is in all of them */
  constructor(size: number, argv: readonly string[] = process.argv.slice(2)) {
    if (!Number.isInteger(size) || size < 1) throw new Error(`--workers ${size}: give a whole number above 0`);
    this.#workers = Array.from(
      { length: size },
      () => new Worker(new URL('run.mjs', import.meta.url), { argv: [...argv] }),
    );
  }

  async survey(first: number, count: number, options: ScheduleOptions): Promise<Survey> {
    return sumOf(await this.spread<Survey>({ kind: 'permits', first, count, options }));
  }

  /** @returns the surveys of the parts of `range` */
  async spread<Part>(range: SeedRange): Promise<Part[]> {
    const end = range.first + range.count;
    const batch = range.kind === 'permits' ? BATCH : LONG_BATCH;
    let next = range.first;
    const parts: Part[] = [];
    const keepBusy = async (worker: Worker) => {
      while (next < end) {
        const some = { ...range, first: next, count: Math.min(batch, end - next) };
        next += some.count;
        parts.push(await this.#carryOut<Part>(some, worker));
      }
    };
    await Promise.all(this.#workers.map(keepBusy));
    return parts;
  }

  async #carryOut<Part>(range: SeedRange, worker: Worker): Promise<Part> {
    worker.postMessage(range);
    const [part] = (await once(worker, 'message')) as [Part];
    return part;
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
