import type { SimProcess } from '../machines/sim-process.js';

/** A term of leadership as its node knows it. */
export interface Leading {
  readonly node: string;
  readonly process: SimProcess;
  readonly token: number;
  readonly permitId: string;
  /** ms for which the node may count on the permit, by its own clocks. Only reads the clocks. */
  readonly remaining: () => number;
  /** Whether the node says that it leads. May end the term, so only a process that runs can be asked. */
  readonly claims: () => boolean;
}

/**
 * Sees all terms of the only scope at their true time, and says where a promise was broken:
 *
 * S2 a term that begins after another one began has the higher token.
 * S3 a term begins only when no other one can go on: the other process said that its term is over, or would find its
 *    lease over if it read its clocks, also if it is frozen. No two processes that run say that they lead. None says so
 *    when its lease is over by its own clocks, not even in its first step after a freeze.
 * S6 the permit of a term goes back only when no work under the term goes on.
 */
export class LeadershipChecker {
  /** By node: the last term that it has not reported as lost. */
  readonly #terms = new Map<string, Leading>();
  /** By permit: how much work goes on under its term. */
  readonly #work = new Map<string, number>();
  #highest = 0;
  /** How many terms began. */
  count = 0;

  constructor(private readonly violated: (what: string) => void) {}

  began(term: Leading): void {
    this.count++;
    if (term.token <= this.#highest) this.violated(`S2 a term with token ${term.token} began after ${this.#highest}`);
    this.#highest = Math.max(this.#highest, term.token);
    const others = [...this.#terms.values()].filter((other) => other.node !== term.node && isSurelyLeading(other));
    for (const { node, process } of others) {
      const how = process.isRunning ? '' : ', which is frozen,';
      this.violated(`S3 ${term.node} began to lead while ${node}${how} counts on its term`);
    }
    this.#terms.set(term.node, term);
    this.check();
  }

  ended(node: string): void {
    this.#terms.delete(node);
  }

  /** S3: call it now and then, and as the first step of a process that goes on after a freeze. */
  check(): void {
    const claiming = [...this.#terms.values()].filter((term) => term.process.isRunning && this.#claims(term));
    if (claiming.length > 1) this.violated(`S3 ${claiming.map(({ node }) => node).join(' and ')} lead at once`);
  }

  /** Work under a term begins. @returns a function that ends it */
  worksUnder(permitId: string): () => void {
    this.#work.set(permitId, (this.#work.get(permitId) ?? 0) + 1);
    return () => this.#work.set(permitId, this.#work.get(permitId)! - 1);
  }

  /** S6: a permit went back to the store. */
  givenBack(node: string, permitId: string): void {
    const work = this.#work.get(permitId) ?? 0;
    if (work > 0) this.violated(`S6 ${node} gave ${permitId} back, and ${work} pieces of work under it go on`);
  }

  #claims({ node, remaining, claims }: Leading): boolean {
    const over = -remaining();
    const isClaimed = claims();
    if (isClaimed && over >= 0) this.violated(`S3 ${node} says that it leads ${over.toFixed(1)} ms after its lease`);
    return isClaimed;
  }
}

function isSurelyLeading({ process, remaining }: Leading): boolean {
  return !process.isCrashed && remaining() > 0;
}
