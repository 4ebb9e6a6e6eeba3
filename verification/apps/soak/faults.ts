import { say } from '../say.js';

/** Counts faults that no healthy process has, from the start on. Each is also logged in full when it happens. */
export class Faults {
  readonly counts = { unhandledRejections: 0, uncaughtExceptions: 0, warnings: 0 };

  constructor() {
    process.on('unhandledRejection', (error) => this.#note('unhandledRejections', error));
    process.on('uncaughtException', (error) => this.#note('uncaughtExceptions', error));
    // MaxListenersExceededWarning, TimeoutOverflowWarning and their like.
    process.on('warning', (error) => this.#note('warnings', error));
  }

  #note(kind: keyof Faults['counts'], error: unknown): void {
    this.counts[kind]++;
    say('fault', { kind, error, stack: error instanceof Error ? error.stack : undefined });
  }
}
