import { existsSync, readFileSync } from 'node:fs';

/** Watches the event loop for the longest time that one turn of it takes. */
export class LongestBlock {
  #longest = 0;
  #began = now();
  #next?: NodeJS.Immediate;

  constructor() {
    const turn = () => {
      const ended = now();
      // A busy machine makes the wall clock run on while this thread waits for a processor: what blocks is in both.
      this.#longest = Math.max(this.#longest, Math.min(ended.wall - this.#began.wall, ended.cpu - this.#began.cpu));
      this.#began = ended;
      this.#next = setImmediate(turn);
    };
    this.#next = setImmediate(turn);
  }

  /** @returns ms since the last call, or since this was made */
  take(): number {
    const longest = this.#longest;
    this.#longest = 0;
    this.#began = now();
    return longest;
  }

  close(): void {
    clearImmediate(this.#next);
  }
}

/** ms */
function now(): { wall: number; cpu: number } {
  return { wall: performance.now(), cpu: threadCpu() };
}

/** The main thread's own, where Linux tells it: V8's threads, which compile and collect garbage, block nothing. */
const SCHEDULED = `/proc/${process.pid}/task/${process.pid}/schedstat`;
const isScheduledKnown = existsSync(SCHEDULED);

export function threadCpu(): number {
  if (isScheduledKnown) return Number(readFileSync(SCHEDULED, 'utf8').split(' ')[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
