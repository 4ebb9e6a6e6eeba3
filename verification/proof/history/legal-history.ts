import fc from 'fast-check';
import type { HistoryEntry } from './history.js';
import { Story } from './story.js';

/** ms; of the service that {@link legalHistory} imagines. */
export const DURATION = 1000;
export const TOLERANCE = 50;
/** Everything has its call and its answer this close to the moment at which it is decided, in ms. */
const CLOSEST = 20;

export interface LegalStep {
  readonly action: 'acquire' | 'refresh' | 'release' | 'write' | 'kill' | 'freeze' | 'edit';
  readonly process: number;
  /** ms since the step before. */
  readonly pause: number;
  /** ms between call and decision, and between decision and answer. */
  readonly there: number;
  readonly back: number;
  /** ms that a freeze lasts; ms/100 by which the holder learns late; or how many permits there may be. */
  readonly amount: number;
}

export const legalSteps = fc.array(
  fc.record<LegalStep>({
    action: fc.constantFrom('acquire', 'acquire', 'acquire', 'refresh', 'release', 'write', 'kill', 'freeze', 'edit'),
    process: fc.nat(3),
    pause: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 100, max: 600 })),
    there: fc.integer({ min: 1, max: CLOSEST - 1 }),
    back: fc.integer({ min: 1, max: CLOSEST - 1 }),
    amount: fc.nat(2000),
  }),
  { minLength: 30, maxLength: 120, size: 'max' },
);

interface Held {
  readonly permit: string;
  readonly process: string;
  readonly slot: number;
  readonly token: number;
  /** The end as its holder counts, and as takers do. */
  until: number;
  freeFrom: number;
}

/** A service that keeps every promise, told as its processes would: decisions happen one after another, in no time. */
class LegalService {
  readonly story = new Story(2);
  #now = 100;
  #permits = 2;
  #token = 0;
  #held: Held[] = [];
  #busyUntil = new Map<string, number>();
  #starts = new Map<number, number>();
  #fence = new Map<number, number>();
  /** Of all permits ever, to write with stale ones, too. */
  #last = new Map<string, Held>();

  take(step: LegalStep): void {
    this.#now += step.pause;
    this.#reportEnds(step.amount / 200);
    const process = this.#name(step.process);
    if ((this.#busyUntil.get(process) ?? 0) >= this.#now - step.there) return;
    this[step.action](process, step);
  }

  /** The ends that are still to come, so that nothing is left untold. */
  finish(): HistoryEntry[] {
    this.#now += 10 * DURATION;
    this.#reportEnds(0);
    this.story.until(this.#now);
    return this.story.entries;
  }

  acquire(process: string, { there, back }: LegalStep): void {
    if (this.#of(process)) return;
    const [now, asked, at] = [this.#now, this.#now - there, this.#now + back];
    this.#busyUntil.set(process, at);
    const living = this.#held.filter((held) => held.freeFrom > now);
    const slot = [0, 1, 2].find((free) => living.every((held) => held.slot !== free))!;
    if (living.length >= this.#permits) {
      this.story.denied(process, at, asked);
      return;
    }
    const token = ++this.#token;
    const until = asked + DURATION - TOLERANCE;
    const held = { permit: `${process}:${token}`, process, slot, token, until, freeFrom: now + DURATION + TOLERANCE };
    this.#held = [...living, held];
    this.#last.set(process, held);
    this.story.granted(held.permit, { asked, at, slot, remaining: until - at });
  }

  refresh(process: string, { there, back }: LegalStep): void {
    const held = this.#of(process);
    if (!held || held.until <= this.#now + back) return;
    held.until = this.#now - there + DURATION - TOLERANCE;
    held.freeFrom = this.#now + DURATION + TOLERANCE;
    this.#busyUntil.set(process, this.#now + back);
    this.story.refreshed(held.permit, this.#now + back, held.until - this.#now - back);
  }

  release(process: string, { there, back }: LegalStep): void {
    const held = this.#of(process);
    if (!held || held.until <= this.#now) return;
    this.#held = this.#held.filter((other) => other !== held);
    this.#busyUntil.set(process, this.#now + back);
    this.story.released(held.permit, this.#now - there, this.#now + back);
  }

  write(process: string): void {
    const held = this.#last.get(process);
    if (!held) return;
    const isApplied = held.token >= (this.#fence.get(held.slot) ?? 0);
    if (isApplied) this.#fence.set(held.slot, held.token);
    this.story.wrote(held.permit, this.#now, isApplied, held.slot);
  }

  kill(process: string, { process: number }: LegalStep): void {
    this.story.happened('killed', process, this.#now);
    this.#starts.set(number, (this.#starts.get(number) ?? 0) + 1);
  }

  freeze(process: string, { amount }: LegalStep): void {
    const thawed = this.#now + amount + 1;
    this.story.happened('frozen', process, this.#now).happened('thawed', process, thawed);
    this.#busyUntil.set(process, thawed);
  }

  edit(_: string, { amount }: LegalStep): void {
    const permits = amount % 4;
    // A lower limit is logged when it is in force, a higher one before: nothing else is decided in between.
    this.story.limited(permits < this.#permits ? this.#now + 0.1 : this.#now - 0.1, permits);
    this.#permits = permits;
  }

  #of(process: string): Held | undefined {
    return this.#held.find((held) => held.process === process);
  }

  /** A process that was killed starts again under another name. */
  #name(number: number): string {
    return `p${number}.${this.#starts.get(number) ?? 0}`;
  }

  #reportEnds(late: number): void {
    const alive = new Set([0, 1, 2, 3].map((number) => this.#name(number)));
    for (const held of this.#held.filter(({ until }) => until <= this.#now)) {
      const { permit, process, until } = held;
      const thawed = Math.max(until, this.#thawedAfter(process, until));
      if (alive.has(process)) {
        if (thawed > until) this.story.woken(permit, thawed, { callback: 'io', threw: true });
        this.story.ended(permit, thawed + late);
        if (thawed > until) this.story.woken(permit, thawed + late, { callback: 'after-timers', aborted: true });
      }
      // Its slot stays taken for a while; its holder has heard all that there is to hear.
      this.#held = this.#held.map((other) => (other === held ? { ...held, process: '', until: Infinity } : other));
    }
  }

  #thawedAfter(process: string, until: number): number {
    const { entries } = this.story;
    const thaw = entries.findLast((entry) => entry.process === process && entry.event === 'thawed');
    const freeze = entries.findLast((entry) => entry.process === process && entry.event === 'frozen');
    return thaw && freeze && freeze.at <= until ? thaw.at : until;
  }
}

export function legalHistory(steps: readonly LegalStep[]): HistoryEntry[] {
  const service = new LegalService();
  for (const step of steps) service.take(step);
  return service.finish();
}
