import { eachInPieces, type Pieces } from '../../core/async/slices.js';
import { type LimboPage, type OwnedPage, resourcesIn } from '../map/page.js';
import type { AllocationRoot, Withdrawal } from '../map/root.js';
import { type LeaseBound, type RegistryView, hasAcknowledged, isOver } from './registry-view.js';

/** Pages by their keys. A page that is missing in the store, and that this node does not remember, is absent. */
export interface KnownPages {
  readonly owned: ReadonlyMap<string, OwnedPage>;
  readonly limbo: ReadonlyMap<string, LimboPage>;
}

export const NO_PAGES: KnownPages = { owned: new Map(), limbo: new Map() };

/** The owner map as a round begins: root, pages and registry put together. */
export interface OwnerMap {
  /** Members that are not over, each with the pages that were found. */
  readonly members: Map<string, ReadonlyMap<string, OwnedPage>>;
  /** Resource -> member that owns it. */
  readonly owners: Map<string, string>;
  /** Resources that a former owner may still have. */
  readonly limbo: Map<string, Withdrawal>;
  /** Whether a resource left the limbo since the root was written, or a page of it was lost. */
  readonly isLimboChanged: boolean;
  /** Whether the root must be written anew, even if no resource gets another owner. */
  readonly isChanged: boolean;
  /** Lost pages whose members may still own resources of them. */
  readonly lost: readonly Withdrawal[];
}

interface MapInput {
  readonly root: AllocationRoot;
  readonly pages: KnownPages;
  readonly registry: RegistryView;
  readonly bound: LeaseBound;
}

/**
 * Reads the owner map. What belonged to members that are over is free. A page that was lost is noted: its member drops
 * those resources when it applies the next root, and nothing is granted before it has acknowledged that.
 */
export function* readOwnerMap(input: MapInput): Pieces<OwnerMap> {
  const { root, pages, registry, bound } = input;
  const next = root.seq + 1;
  const isFree = ({ from, seq }: Withdrawal) =>
    isOver(registry, from, bound) || hasAcknowledged(registry, from, { born: root.born, seq });
  const living = [...root.members].filter(([inc]) => !isOver(registry, inc, bound));
  const members = new Map(living.map(([inc, keys]) => [inc, found(keys, pages.owned)]));
  const owners = new Map<string, string>();
  yield* eachInPieces(ownersIn(members), ([id, inc]) => void owners.set(id, inc));
  const { limbo, isChanged } = yield* readLimbo(input, isFree);
  // A lost page of the limbo may be about any of the members.
  const isLimboLost = root.limbo.some((key) => !pages.limbo.has(key));
  const suspects = living.filter(([inc, keys]) => isLimboLost || keys.length > members.get(inc)!.size);
  const lost = [...root.lost.filter((each) => !isFree(each)), ...suspects.map(([from]) => ({ from, seq: next }))];
  const isLimboChanged = isChanged || isLimboLost;
  const isMemberOver = living.length < root.members.size;
  return {
    members,
    owners,
    limbo,
    isLimboChanged,
    isChanged: isLimboChanged || isMemberOver || suspects.length > 0 || lost.length !== root.lost.length,
    lost,
  };
}

/** The owners in an owner map, living or not. Resources of pages that were not found are absent. */
export interface MappedOwners {
  /** Resource -> its owner, and its token. */
  readonly owners: ReadonlyMap<string, { readonly inc: string; readonly token: number }>;
  /** Resource -> incarnation that has not given it back yet. */
  readonly limbo: ReadonlyMap<string, string>;
}

/** The owners by the pages of a root. Without a root there are none. */
export function* mappedOwners(root: AllocationRoot | undefined, pages: KnownPages): Pieces<MappedOwners> {
  const owners = new Map<string, { readonly inc: string; readonly token: number }>();
  const limbo = new Map<string, string>();
  for (const [inc, keys] of root?.members ?? []) {
    const known = found(keys, pages.owned).values();
    yield* eachInPieces(resourcesIn(known), ([id, token]) => void owners.set(id, { inc, token }));
    yield 1;
  }
  for (const [from, , ids] of root?.limbo.flatMap((key) => pages.limbo.get(key)?.limbo ?? []) ?? []) {
    yield* eachInPieces(ids, (id) => void limbo.set(id, from));
    yield 1;
  }
  return { owners, limbo };
}

/** In one row, so that also the resources of many members are read in pieces. */
function* ownersIn(members: OwnerMap['members']): Generator<readonly [id: string, inc: string]> {
  for (const [inc, pages] of members) for (const [id] of resourcesIn(pages.values())) yield [id, inc];
}

function found(keys: readonly string[], pages: ReadonlyMap<string, OwnedPage>): Map<string, OwnedPage> {
  return new Map(keys.flatMap((key) => (pages.has(key) ? [[key, pages.get(key)!] as const] : [])));
}

function* readLimbo({ root, pages }: MapInput, isFree: (withdrawal: Withdrawal) => boolean) {
  const limbo = new Map<string, Withdrawal>();
  let isChanged = false;
  for (const [from, seq, ids] of root.limbo.flatMap((key) => pages.limbo.get(key)?.limbo ?? [])) {
    const withdrawal = { from, seq };
    if (isFree(withdrawal)) isChanged = true;
    else yield* eachInPieces(ids, (id) => void limbo.set(id, withdrawal));
    yield 1;
  }
  return { limbo, isChanged };
}

/** Pages of a root that nodes miss and this node remembers, by their keys: write each of them in its slot. */
export function pagesToPutBack(
  { members }: AllocationRoot,
  { living }: RegistryView,
  { owned }: KnownPages,
): Map<string, OwnedPage> {
  // A slot of an older root may be in use for another page.
  const missing = [...living.values()].filter((entry) => members.get(entry.inc)?.includes(entry.missing ?? ''));
  return found(
    missing.map((entry) => entry.missing!),
    owned,
  );
}
