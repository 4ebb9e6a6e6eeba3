import { eachInPieces, type Pieces } from '../../core/async/slices.js';
import {
  type LimboPage,
  MOST_IN_PAGE,
  type OwnedPage,
  limboPages,
  ownedPages,
  pageKey,
  resourcesIn,
  freeSlots,
} from '../map/page.js';
import type { AllocationRoot } from '../map/root.js';
import type { OwnerMap } from './owner-map.js';
import type { RoundInput } from './round.js';

/** Changes of one member's resources in one round. */
export interface OwnedPagesChange {
  readonly revoked: Set<string>;
  readonly granted: string[];
}

/** Input of {@link rewriteMap}. */
interface Rewrite {
  /** The root that is replaced. */
  readonly root: AllocationRoot;
  readonly term: number;
  /** The owner map after the changes. */
  readonly map: OwnerMap;
  readonly changes: ReadonlyMap<string, OwnedPagesChange>;
  /** Token of all that is granted in this round. */
  readonly token: number;
  readonly isLimboChanged: boolean;
  readonly input: RoundInput;
}

/** A root with its new pages. */
interface RewrittenMap {
  readonly root: AllocationRoot;
  readonly owned: ReadonlyMap<string, OwnedPage>;
  readonly limbo: ReadonlyMap<string, LimboPage>;
}

/**
 * Makes the next root and its new pages. Pages without a change keep their keys, so a round writes little. When a grace
 * ends, everything gets new tokens: the tokens of the copy may be older than those that the lost root had granted.
 */
export function* rewriteMap(rewrite: Rewrite): Pieces<RewrittenMap> {
  const { root, term, map, changes, token, isLimboChanged, input } = rewrite;
  const slots = freeSlots(root);
  const newKey = () => pageKey(slots.next().value, input.nonce);
  const { members, owned } = yield* rewriteMembers(rewrite, newKey);
  const limboPagesNow = isLimboChanged ? yield* limboPages(map.limbo) : [];
  const limbo = new Map(limboPagesNow.map((page) => [newKey(), page] as const));
  const isGranted = root.grace || [...changes.values()].some(({ granted }) => granted.length > 0);
  const next: AllocationRoot = {
    ...root,
    nonce: input.nonce,
    seq: root.seq + 1,
    term,
    at: input.now,
    lease: longestLease(root, members.keys(), input),
    lastToken: isGranted ? token : root.lastToken,
    members,
    limbo: isLimboChanged ? [...limbo.keys()] : root.limbo,
    lost: map.lost,
    grace: false,
  };
  return { root: next, owned, limbo };
}

/**
 * The longest lease that an owner may have. All that may own something by this root or a former one are its members: an
 * incarnation stays a member until it is over, also while it gives things back, and while pages of it are lost. So while
 * all members are living, their entries say how long their leases are, and an incarnation never changes its own. A member
 * without an entry may have the longest lease of the former root, which was true for all members of that one. Living nodes
 * that are no members count too: the next root may make them members, and get lost.
 */
function longestLease(root: AllocationRoot, members: Iterable<string>, { registry, options }: RoundInput): number {
  const durations = [...registry.living.values()].map(({ duration }) => duration);
  const isKnown = [...members].every((inc) => registry.living.has(inc));
  return Math.max(options.lease, ...durations, ...(isKnown ? [] : [root.lease]));
}

function* rewriteMembers({ root, map, changes, token }: Rewrite, newKey: () => string) {
  const owned = new Map<string, OwnedPage>();
  const members = new Map<string, readonly string[]>();
  for (const inc of new Set([...map.members.keys(), ...changes.keys()])) {
    const pages = map.members.get(inc) ?? new Map<string, OwnedPage>();
    const change = root.grace ? yield* renewed(pages, changes.get(inc)) : changes.get(inc);
    const { kept, fresh } = yield* rewritePages(pages, change, token);
    const keyed = fresh.map((page) => [newKey(), page] as const);
    for (const [key, page] of keyed) owned.set(key, page);
    members.set(inc, [...kept, ...keyed.map(([key]) => key)]);
  }
  return { members, owned };
}

/** As if everything that the member keeps were granted anew. */
function* renewed(
  pages: ReadonlyMap<string, OwnedPage>,
  change: OwnedPagesChange | undefined,
): Pieces<OwnedPagesChange> {
  const revoked = new Set<string>();
  const granted: string[] = [];
  yield* eachInPieces(resourcesIn(pages.values()), ([id]) => {
    revoked.add(id);
    if (!change?.revoked.has(id)) granted.push(id);
  });
  yield* eachInPieces(change?.granted ?? [], (id) => void granted.push(id));
  return { revoked, granted };
}

/** Rewrites the pages that lose a resource, and small ones together with what is granted. */
function* rewritePages(
  pages: ReadonlyMap<string, OwnedPage>,
  change: OwnedPagesChange | undefined,
  token: number,
): Pieces<{ readonly kept: string[]; readonly fresh: OwnedPage[] }> {
  if (!change) return { kept: [...pages.keys()], fresh: [] };
  const kept: string[] = [];
  const loose: (readonly [id: string, token: number])[] = [];
  for (const [key, page] of pages) {
    const items = [...resourcesIn([page])];
    const rest = items.filter(([id]) => !change.revoked.has(id));
    yield items.length;
    if (rest.length === items.length && items.length * 2 > MOST_IN_PAGE) kept.push(key);
    else loose.push(...rest);
  }
  yield* eachInPieces(change.granted, (id) => void loose.push([id, token]));
  return { kept, fresh: yield* ownedPages(loose) };
}
