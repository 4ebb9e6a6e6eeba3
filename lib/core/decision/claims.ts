import { type View, graceIn } from './record.js';
import { type ShardRecord, rewriteShard } from './shard.js';

/** A request to a shard: leave this name to its own record. */
export interface NameClaim {
  readonly name: string;
  readonly origin: string;
  /**
   * Whether the own record is active. Then the shard had the claim before and lost it, and has granted nothing since.
   */
  readonly isActive: boolean;
}

/**
 * A name that code defines has its own record. Nodes with other code must use that record too. A claim in the name's
 * shard tells them:
 *
 *     own record   pending(origin) ───────────────────────▶ active: with a grace unless the claim has this origin
 *     shard               └──▶ claim(name ▶ origin) ──▶┘     (then the record that was claimed first is lost)
 *
 * Before the claim, nodes whose code does not define the name may use it on demand. So the own record grants nothing
 * while it is pending. After the claim, no node grants the name in the shard. The compare-and-set of the shard decides
 * between a claim and a grant on demand.
 *
 * This adds claims in one write. A claim is refused while the shard has a living permit of the name. The first claim of a
 * name is also refused during a grace, because unknown holders may exist, and while the shard has an operator's
 * definition.
 *
 * @returns undefined if no claim can be added
 */
export function claimNames(
  shard: ShardRecord,
  claims: readonly NameClaim[],
  view: View,
  nonce: string,
): ShardRecord | undefined {
  const due = claims.filter((each) => !shard.claims.has(each.name) && mayClaim(shard, each, view));
  if (due.length === 0) return undefined;
  const names = due.reduce((left, { name }) => left.without(name), shard.names);
  const noted = new Map([...shard.claims, ...due.map(({ name, origin }) => [name, origin] as const)]);
  return rewriteShard(shard, { names, claims: noted }, view, nonce);
}

function mayClaim(shard: ShardRecord, { name, isActive }: NameClaim, view: View): boolean {
  const entry = shard.names.get(name);
  if (entry?.permits.some((permit) => !view.isExpired(permit))) return false;
  if (isActive) return true;
  return !entry?.definition && !graceIn(shard, view);
}
