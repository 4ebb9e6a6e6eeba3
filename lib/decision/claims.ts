import type { View } from './record.js';
import { type ShardRecord, rewriteShard } from './shard.js';

/**
 * A name that code defines has a record of its own, which nodes with other code must use, too. Its shard says so:
 *
 *     own record   pending(origin) ───────────────────────▶ active: with a grace if the claim names another origin
 *     shard               └──▶ claim(name ▶ origin) ──▶┘     (the own record that was claimed is lost)
 *
 * Before the claim the name may be in use on demand, by nodes whose code does not define it: so the own record grants
 * nothing while it is pending. After it, no node grants the name in the shard: the same compare-and-set decides both.
 */
/** A name with a record of its own, which asks its shard to leave the name to that record. */
export interface Claim {
  readonly name: string;
  readonly origin: string;
  /** Whether the own record was in force before. Then the shard had the claim, lost it, and can't have granted since. */
  readonly isActive: boolean;
}

/**
 * Notes claims in one write. Refused while a permit of the name lives in the shard; one that was not in force before also
 * while a grace stands for unknown holders, or an operator's definition stands there.
 *
 * @returns undefined when nothing new can be noted
 */
export function claim(
  shard: ShardRecord,
  claims: readonly Claim[],
  view: View,
  nonce: string,
): ShardRecord | undefined {
  const due = claims.filter((each) => !shard.claims.has(each.name) && mayClaim(shard, each, view));
  if (due.length === 0) return undefined;
  const names = new Map(shard.names);
  for (const { name } of due) names.delete(name);
  const noted = new Map([...shard.claims, ...due.map(({ name, origin }) => [name, origin] as const)]);
  return rewriteShard(shard, { names, claims: noted }, view, nonce);
}

function mayClaim(shard: ShardRecord, { name, isActive }: Claim, view: View): boolean {
  const entry = shard.names.get(name);
  if (entry?.permits.some((permit) => !view.isExpired(permit))) return false;
  if (isActive) return true;
  return !entry?.definition && (!shard.grace || view.isExpired(shard.grace));
}
