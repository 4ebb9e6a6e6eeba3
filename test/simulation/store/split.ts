import type { Chance } from '../world/chance.js';

/** Data of the members on one side of a split cluster. */
export interface Side {
  readonly name: 'majority' | 'minority';
  readonly texts: Map<string, string>;
  /** True: its members no longer wait for the others, and continue with their own copies. */
  isAware: boolean;
}

/** How far a call gets: to members that can do it, or not. */
export type Reach =
  /** As ever. */
  | 'all'
  /** The record's owner is on this side and its backups on the other: it writes, but gets no confirmation. */
  | 'unconfirmed'
  /** The record's owner is beyond the split. */
  | 'nothing'
  /** Too few members, and they know it. */
  | 'no-quorum';

/**
 * A cluster in two sides, each with clients. Until a side has noticed, its members count on those whom they can't reach:
 * whatever needs them hangs. Then the side goes on with its copies, without what the owner wrote unconfirmed meanwhile
 * if that is beyond the split.
 */
export class Split {
  readonly majority: Side;
  readonly minority: Side;
  readonly #owner: Side;
  readonly #sideOf = new Map<object, Side>();

  constructor(
    texts: ReadonlyMap<string, string>,
    private readonly hasQuorum: boolean,
    private readonly chance: Chance,
  ) {
    this.majority = { name: 'majority', texts: new Map(texts), isAware: false };
    this.minority = { name: 'minority', texts: new Map(texts), isAware: false };
    this.#owner = chance.happens(2 / 3) ? this.majority : this.minority;
  }

  get sides(): readonly Side[] {
    return [this.majority, this.minority];
  }

  /** Where a client is, from the first time that it asks. */
  sideOf(client: object): Side {
    const known = this.#sideOf.get(client);
    const side = known ?? (this.chance.happens(0.5) ? this.majority : this.minority);
    this.#sideOf.set(client, side);
    return side;
  }

  reachOf(client: object): Reach {
    const side = this.sideOf(client);
    if (!side.isAware) return side === this.#owner ? 'unconfirmed' : 'nothing';
    return this.hasQuorum && side === this.minority ? 'no-quorum' : 'all';
  }

  /** The side whose texts stay after the merge: the larger side, unless it has not noticed the split. */
  get winner(): Side {
    return this.sides.some((side) => side.isAware) ? this.majority : this.#owner;
  }
}
