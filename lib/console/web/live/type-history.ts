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

/** Adds what a node answered. The same answer twice counts once. @param now when it answered: cluster time in ms */
export function noteSamples(now: number, types: readonly (Omit<TypeSample, 'at'> & { readonly type: string })[]): void {
  for (const { type, waiting, running, completed, failed } of types) {
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
