/** A node's belief, as the checker asks for it. */
export interface Believer {
  readonly inc: string;
  /** The token of a resource, if the node believes now that it owns it. */
  tokenOf(resource: string): number | undefined;
}

/** Watches that no two nodes believe in one resource at the same time, and that tokens grow. */
export class Checker {
  readonly violations: string[] = [];
  readonly #believers = new Map<string, Set<Believer>>();
  readonly #tokens = new Map<string, { readonly token: number; readonly inc: string }>();

  constructor(private readonly now: () => number) {}

  /** Call it when a node begins to believe in a resource, gets a new token for it, or holds its lease again. */
  begins(node: Believer, resource: string): void {
    const token = node.tokenOf(resource);
    if (token === undefined) return;
    const believers = this.#believers.get(resource) ?? new Set();
    this.#believers.set(resource, believers.add(node));
    for (const other of believers) {
      if (other.tokenOf(resource) === undefined) believers.delete(other);
      else if (other !== node) this.#note(`two owners of ${resource}: ${other.inc} and ${node.inc}`);
    }
    this.#checkToken(resource, token, node.inc);
  }

  #checkToken(resource: string, token: number, inc: string): void {
    const last = this.#tokens.get(resource);
    if (last && (token < last.token || (token === last.token && inc !== last.inc))) {
      this.#note(`token of ${resource} went from ${last.token} (${last.inc}) to ${token} (${inc})`);
    }
    this.#tokens.set(resource, { token, inc });
  }

  #note(violation: string): void {
    if (this.violations.length < 10) this.violations.push(`${Math.round(this.now())} ms: ${violation}`);
  }
}
