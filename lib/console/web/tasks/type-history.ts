import type { TaskTypesAnswer } from '../api/answers.js';
import { typesIn } from './task-types.js';

/** The work on one type at one moment. */
export interface TypeSample {
  /** Cluster time in ms. */
  readonly at: number;
  readonly waiting: number;
  readonly running: number;
  readonly completed: number;
  readonly failed: number;
}

/** Samples of a type, at most, and ms for which they are kept. */
const MOST_SAMPLES = 400;
const KEPT = 30 * 60_000;
/** Types with samples, at most. */
const MOST_TYPES = 200;

/**
 * The samples that this browser tab has seen since it was opened, per type. No node keeps a history for it, so nothing is
 * asked of the store while no page shows the types.
 */
const samples = new Map<string, readonly TypeSample[]>();

/** Adds the answer of a node. The same answer twice counts once. */
export function noteSamples(answer: Pick<TaskTypesAnswer, 'now' | 'waiting' | 'nodes'>): void {
  const { now } = answer;
  for (const { type, waiting, running, completed, failed } of typesIn(answer)) {
    const kept = samplesOf(type).filter(({ at }) => at > now - KEPT && at < now);
    if (kept.length === 0 && samples.size >= MOST_TYPES) continue;
    samples.set(type, [...kept.slice(1 - MOST_SAMPLES), { at: now, waiting, running, completed, failed }]);
  }
}

export function samplesOf(type: string): readonly TypeSample[] {
  return samples.get(type) ?? [];
}

/** Forgets all samples, as at a sign-out. */
export function forgetSamples(): void {
  samples.clear();
}
