import type { Chance } from '../world/chance.js';

/** What the members on one side of a split cluster hold. */
export interface Side {
  readonly name: 'majority' | 'minority';
  readonly texts: Map<string, string>;
  /** Whether it has noticed: its members wait for the others no longer, and go on with the copies that they have. */
  isAware: boolean;
}

/** How far a call gets: to members that can do it, or not. */
export type Reach =
  /** As ever. */
  | 'all'
  /** The record's owner is here, its backups beyond the split: it writes, but nobody confirms it. */
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

  /** Whose texts stay when the sides meet again: the larger side's, unless it has not even noticed. */
  get winner(): Side {
    return this.sides.some((side) => side.isAware) ? this.majority : this.#owner;
  }
}
