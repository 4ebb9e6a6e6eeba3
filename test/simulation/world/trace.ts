import type { VirtualTime } from './virtual-time.js';

/** What happened in one schedule, to be read by people: when, where, what. Written only when asked for. */
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
