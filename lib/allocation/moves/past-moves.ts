import type { MoveHistory } from './move-history.js';
import type { OwnerMoves, OwnersChange, PastChange, PastMoves } from './move-answers.js';
import type { OwnerMoveReason } from './move-kinds.js';
import { eachInPieces, inSlices, type Pieces } from '../../core/async/slices.js';
import type { Context } from '../../core/context/context.js';

/** Number of changes of a group that {@link readMoves} looks at. */
export const MOST_CHANGES = 1000;
const USUAL = 100;

/** Selects past moves of resources. */
export interface MovesQuery {
  /** Only moves of resources whose id contains this text. */
  readonly resource?: string | undefined;
  /** Only moves from or to the node of this name. */
  readonly node?: string | undefined;
  /** Maximum number of changes. Default 100, at most 1000. */
  readonly limit?: number | undefined;
}

/** Reads the last changes of a group. @throws StoreUnavailableError */
export async function readMoves(
  group: string,
  { limit = USUAL, ...filter }: MovesQuery,
  moves: MoveHistory,
  { nodeClock }: Pick<Context, 'nodeClock'>,
): Promise<PastMoves> {
  const isFiltered = filter.resource !== undefined || filter.node !== undefined;
  const entries = await moves.read(group, isFiltered ? MOST_CHANGES : Math.min(limit, MOST_CHANGES));
  return inSlices(selected(entries.toReversed(), filter, limit), nodeClock);
}

function* selected(
  entries: readonly OwnersChange[],
  { resource, node }: Omit<MovesQuery, 'limit'>,
  limit: number,
): Pieces<PastMoves> {
  const changes: PastChange[] = [];
  let unnamed = 0;
  yield* eachInPieces(entries, (change) => {
    if (changes.length >= limit) return;
    const found = change.moves.flatMap((each) => matching(each, resource, node) ?? []);
    if (found.length > 0 || (resource === undefined && node === undefined)) changes.push(inWords(change, found));
    if (resource !== undefined && namedIn(change) < change.total) unnamed++;
  });
  return { changes, unnamed };
}

function matching(moves: OwnerMoves, resource: string | undefined, node: string | undefined): OwnerMoves | undefined {
  if (node !== undefined && moves.from !== node && moves.to !== node) return undefined;
  if (resource === undefined) return moves;
  const resources = moves.resources.filter((id) => id.includes(resource));
  return resources.length > 0 ? { ...moves, resources } : undefined;
}

const REASONS: Record<OwnerMoveReason, string> = {
  removed: 'no longer in the set of resources',
  pinned: 'pinned',
  drained: 'the node is drained',
  leaving: 'the node shut down',
  balance: 'for balance',
  'no-owner': 'had no owner',
  'owner-gone': 'the owner is gone',
};

/** The same of a former process, if its node is the next owner, too. */
const FORMER_REASONS: Partial<Record<OwnerMoveReason, string>> = {
  leaving: 'the former one shut down',
  'owner-gone': 'the former one is gone',
};

/** Why resources moved, in words. After a restart, or after a lapse of its lease, a node is its own successor. */
export function reasonOf({ from, to, fromInstance, toInstance, why }: OwnerMoves): string {
  if (from === undefined || from !== to) return REASONS[why];
  if (fromInstance !== undefined && fromInstance === toInstance)
    return `stays with ${to}: its lease had lapsed, and it has a new one`;
  return `stays with ${to}, in another process: ${FORMER_REASONS[why] ?? REASONS[why]}`;
}

const SENTENCES = {
  moved: undefined,
  restored: 'the owner map was new or lost: nothing was granted until every member had confirmed it',
  confirmed: 'every member had confirmed the owner map: all resources got new tokens',
};

function inWords(change: OwnersChange, moves: readonly OwnerMoves[]): PastChange {
  const sentence = SENTENCES[change.kind];
  const worded = moves.map((each) => ({ ...each, reason: reasonOf(each) }));
  return { ...change, moves: worded, ...(sentence !== undefined && { sentence }) };
}

function namedIn({ moves }: OwnersChange): number {
  return moves.reduce((sum, { resources }) => sum + resources.length, 0);
}
