import type { LeakKind } from './soak.settings.js';

/** Small enough to be missed by eye: the heap grows by a quarter of a MB in a minute. */
const EVERY = 1000;
const LOST_NUMBERS = 512;

/** Loses something once a second, for as long as the process lives, as a careless program would. */
export class Leak {
  readonly #lost: unknown[] = [];

  constructor(private readonly kind: LeakKind) {}

  start(): void {
    setInterval(() => this.#lose(), EVERY).unref();
  }

  #lose(): void {
    if (this.kind === 'timers') setTimeout(() => {}, 3_600_000).unref();
    if (this.kind === 'heap') this.#lost.push(Array.from({ length: LOST_NUMBERS }, () => Math.random()));
    if (this.kind === 'listeners') process.on('SIGWINCH', () => {});
  }
}
