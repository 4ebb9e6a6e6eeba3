import { setTimeout as pause } from 'node:timers/promises';
import type { FlakeIdGenerator } from 'hazelcast-client';
import type { ClockReading } from '../store.js';
import { ClockPrefetchError } from './clock-prefetch.error.js';
import { type FlakeId, readingOf } from './flake-id.js';

const PROOF = 50;

/** Reads the clock of a member, by the ids that it makes. */
export class MemberClock {
  #proven: boolean;

  /** @param trusted whether the generator is known to make each id when it is asked for it */
  constructor(
    readonly generator: FlakeIdGenerator,
    trusted: boolean,
  ) {
    this.#proven = trusted;
  }

  /** @throws ClockPrefetchError when ids come from a batch that was fetched earlier */
  async read(): Promise<ClockReading> {
    if (!this.#proven) await this.#prove();
    return readingOf((await this.generator.newId()) as FlakeId);
  }

  /** Once: two ids made 50 ms apart tell different times, unless both came with the first. */
  async #prove(): Promise<void> {
    const first = readingOf((await this.generator.newId()) as FlakeId);
    await pause(PROOF);
    const second = readingOf((await this.generator.newId()) as FlakeId);
    const sameBatch = first.member === second.member && Math.abs(second.time - first.time) < PROOF / 2;
    if (sameBatch) throw new ClockPrefetchError(this.generator.getName());
    this.#proven = true;
  }
}
