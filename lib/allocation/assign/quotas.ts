import { type WeightedParticipant, byText } from './participant.js';

/** A participant with the resources that bear on its quota. */
export interface Claimant extends WeightedParticipant {
  /** Number of resources that it has, or that are pinned to it. */
  readonly has: number;
  /** Number of resources that are pinned to it. */
  readonly pinned: number;
}

/**
 * How many resources each participant gets. Without pins, |quota - ideal| < 1, where the ideal is the weight's part of
 * the total: everyone gets the floor of it, and the rest goes out one by one. Those that have more than their floor come
 * first, because each of them would have to give a resource away otherwise. Then the larger remainder comes first, then
 * the lower id.
 *
 * A participant whose pins exceed its ideal gets exactly its pins, and the others divide the rest.
 *
 * The order is why a second call changes nothing: a participant that got one of the rest has more than its floor then.
 */
export function quotasOf(total: number, claimants: readonly Claimant[]): Map<string, number> {
  const quotas = new Map(claimants.map(({ id, pinned }) => [id, pinned]));
  let open = claimants.filter(({ weight }) => weight > 0);
  let left = total;
  for (;;) {
    const weights = sum(open, ({ weight }) => weight);
    const isOver = ({ pinned, weight }: Claimant) => pinned * weights > left * weight;
    const over = open.filter(isOver);
    if (over.length === 0) break;
    left -= sum(over, ({ pinned }) => pinned);
    open = open.filter((claimant) => !over.includes(claimant));
  }
  for (const [id, quota] of evenQuotas(left, open)) quotas.set(id, quota);
  return quotas;
}

function evenQuotas(total: number, claimants: readonly Claimant[]): [id: string, quota: number][] {
  const weights = sum(claimants, ({ weight }) => weight);
  const rows = claimants.map(({ id, weight, has }) => {
    const floor = Math.floor((total * weight) / weights);
    return { id, floor, remainder: total * weight - floor * weights, isAbove: has > floor };
  });
  const extras = total - sum(rows, ({ floor }) => floor);
  const first = rows
    .filter(({ remainder }) => remainder > 0)
    .toSorted(
      (one, other) =>
        Number(other.isAbove) - Number(one.isAbove) || other.remainder - one.remainder || byText(one.id, other.id),
    )
    .slice(0, extras);
  const lucky = new Set(first);
  return rows.map((row) => [row.id, row.floor + (lucky.has(row) ? 1 : 0)]);
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}
