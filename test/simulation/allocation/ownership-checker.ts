import type { Trace } from '../world/trace.js';
import type { VirtualTime } from '../world/virtual-time.js';

/** A process, as the checker asks it. Nothing here changes its state: it may be frozen. */
export interface Claimant {
  readonly name: string;
  readonly isCrashed: boolean;
  /** Id of its membership lease, while it is held by its own clocks. */
  readonly incarnation: string | undefined;
  /** The resources that it owns by its own clocks, with their tokens. */
  owned(): Iterable<readonly [id: string, token: number]>;
  /** The resources on which its application still works, within what it is promised. */
  inUse(): Iterable<string>;
}

interface Grant {
  readonly token: number;
  readonly incarnation: string | undefined;
}

/**
 * Sees everything at its true time, and says where a promise of the allocation was broken:
 *
 * A1 no resource has two owners at one moment. An owner is a process that is not dead and would say so if it read its
 *    own clocks at that moment, also a frozen one; and one whose application has not finished with a revoked resource,
 *    within the handover timeout.
 * A2 each change of owner raises the token of the resource.
 * A3 every resource has an owner, and the shares are even, in time after the start and after the trouble: see `boundOf`.
 * A4 no node writes a text that can't be read.
 */
export class OwnershipChecker {
  readonly violations: string[] = [];
  /** Changes of owners that were seen. */
  changes = 0;
  /** Tokens that went back although that is documented: a clock jumped, and data were lost. */
  excusedTokens = 0;
  readonly #claimants: Claimant[] = [];
  readonly #last = new Map<string, Grant>();
  /** Violations are reported once for each resource. */
  readonly #reported = new Set<string>();

  /** @param areTokensExcused whether tokens may go back, as documented */
  constructor(
    private readonly time: VirtualTime,
    private readonly trace: Trace,
    private readonly areTokensExcused: boolean,
  ) {}

  add(claimant: Claimant): void {
    this.#claimants.push(claimant);
  }

  /** Call it when a process owns other resources. */
  changed(claimant: Claimant): void {
    const { incarnation } = claimant;
    for (const [id, token] of claimant.owned()) this.#checkToken(id, { token, incarnation }, claimant);
    this.look();
  }

  /** A1: call it now and then. */
  look(): void {
    const users = new Map<string, Claimant>();
    for (const claimant of this.#claimants) {
      if (claimant.isCrashed) continue;
      const ids = new Set([...claimant.owned()].map(([id]) => id));
      for (const id of claimant.inUse()) ids.add(id);
      for (const id of ids) {
        const other = users.get(id);
        if (other)
          this.#violated(`A1 ${id}`, () => `A1 ${id} has two owners: ${nameOf(other)} and ${nameOf(claimant)}`);
        users.set(id, claimant);
      }
    }
  }

  /** A promise of another kind was broken. */
  violated(what: string): void {
    this.#violated(what, () => what);
  }

  #checkToken(id: string, now: Grant, { name }: Claimant): void {
    const last = this.#last.get(id);
    this.#last.set(id, now);
    if (last?.incarnation !== now.incarnation) this.changes++;
    if (!last || now.token > last.token) return;
    if (now.token === last.token && now.incarnation === last.incarnation) return;
    if (this.areTokensExcused) this.excusedTokens++;
    else this.#violated(`A2 ${id}`, () => `A2 ${name} got ${id} with token ${now.token} after ${last.token}`);
  }

  #violated(key: string, what: () => string): void {
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.violations.push(`at ${(this.time.now / 1000).toFixed(4)}: ${what()}`);
    this.trace.note('!!!', what);
  }
}

function nameOf({ name, incarnation }: Claimant): string {
  return `${name} (${incarnation ?? 'no lease'})`;
}
