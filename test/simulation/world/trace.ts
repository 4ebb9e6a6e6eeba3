import type { VirtualTime } from './virtual-time.js';

/** Readable log of one schedule: time, place and event. Written only on demand. */
export class Trace {
  readonly lines: string[] = [];

  constructor(
    private readonly time: VirtualTime,
    private readonly isOn: boolean,
  ) {}

  note(where: string, what: () => string): void {
    if (!this.isOn) return;
    this.lines.push(`${(this.time.now / 1000).toFixed(4).padStart(10)}  ${where.padEnd(6)} ${what()}`);
  }
}
