import type { StoredPermit } from '../../../lib/core/decision/index.js';

/** One semaphore as a write left it. */
export interface Written {
  readonly permits: readonly StoredPermit[];
  /** How many permits its definition allows. */
  readonly limit: number;
  /** ms that no permit may exceed: a grace after lost data lasts no longer. */
  readonly longest?: number;
}

/** All writes of one semaphore, in the order in which the store applied them: grants are judged by them. */
export class NameHistory {
  /** Tokens that were written: a released slot that stays taken (`atLeastFor`) keeps its token under a new id. */
  readonly #tokens = new Set<number>();
  /** By permit id: the highest token returned, and the count of writes, when it was first written. */
  readonly #born = new Map<string, { readonly mustExceed: number; readonly writes: number }>();
  readonly #limits: number[] = [];
  #highestReturned = 0;

  constructor(private readonly violated: (what: string) => void) {}

  written({ permits, limit, longest = Infinity }: Written): void {
    this.#limits.push(limit);
    for (const { id, token, asked } of permits) {
      if (this.#born.has(id)) continue;
      this.#born.set(id, { mustExceed: this.#highestReturned, writes: this.#limits.length - 1 });
      if (!this.#tokens.has(token) && permits.length > limit) this.violated(`a grant was written beyond ${limit}`);
      this.#tokens.add(token);
      if (asked && asked.duration > longest) this.violated(`S1 a permit for ${asked.duration} ms outlasts every grace`);
    }
    const slots = new Set(permits.map((permit) => permit.slot));
    if (slots.size < permits.length) this.violated(`two permits in one slot were written: ${JSON.stringify(permits)}`);
  }

  /** S2: a grant came back to its process. */
  returned({ id, token }: StoredPermit): void {
    const mustExceed = this.#born.get(id)?.mustExceed ?? 0;
    if (token <= mustExceed) this.violated(`S2 ${token} was granted after ${mustExceed} had been returned`);
    this.#highestReturned = Math.max(this.#highestReturned, token);
  }

  /** The most permits that were allowed at any time since a permit was first written. */
  limitSince(permitId: string): number {
    return Math.max(...this.#limits.slice(this.#born.get(permitId)?.writes ?? 0));
  }
}
