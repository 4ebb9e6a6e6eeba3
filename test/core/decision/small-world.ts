import {
  type Decision,
  type SemaphoreRecord,
  type StoredPermit,
  type View,
  decide,
  edit,
  expire,
  release,
} from '../../../lib/core/decision/index.js';
import { DURATION, START, TOLERANCE, aChange, aDefinition, aRecord, aRequest } from './worlds.js';

/** Small enough that every sequence of moves can be tried: two nodes, up to two permits, four steps of the clock. */
export const MOVES = ['A acquires', 'B acquires', 'A releases', 'B releases', 'tick', 'one', 'two', 'sweep'] as const;
export type Move = (typeof MOVES)[number];

export const MOST_TICKS = 4;
/** Two steps are the end of a lease for its holder, three for everybody. */
const STEP = DURATION / 2;

export interface SmallWorld {
  readonly record: SemaphoreRecord;
  readonly ticks: number;
  /** The last permit of each node that it has not released. */
  readonly held: Readonly<Partial<Record<'A' | 'B', StoredPermit>>>;
  readonly moves: readonly Move[];
}

export const GENESIS: SmallWorld = { record: aRecord(), ticks: 0, held: {}, moves: [] };

export function viewOf({ ticks }: SmallWorld): View {
  const now = START + ticks * STEP;
  return { now, isExpired: (lease) => lease.expiresAt + TOLERANCE <= now };
}

/** By the node's own count, which stops `TOLERANCE` before the end. */
export function believes(world: SmallWorld, node: 'A' | 'B'): StoredPermit | undefined {
  const permit = world.held[node];
  return permit && viewOf(world).now < permit.expiresAt - TOLERANCE ? permit : undefined;
}

export interface Moved {
  readonly world: SmallWorld;
  readonly decision?: Decision;
}

export function play(world: SmallWorld, move: Move): Moved {
  const { record, held, ticks } = world;
  const view = viewOf(world);
  const moves = [...world.moves, move];
  const nonce = `write-${moves.length}`;
  const after = (changes: Partial<SmallWorld>): Moved => ({ world: { ...world, ...changes, moves } });
  if (move === 'tick') return after({ ticks: ticks + 1 });
  if (move === 'sweep') return after({ record: expire(record, view, nonce) ?? record });
  if (move === 'one' || move === 'two') {
    return after({ record: edit(record, aDefinition({ permits: move === 'one' ? 1 : 2 }), aChange(), view, nonce) });
  }
  const node = move[0] as 'A' | 'B';
  if (move.endsWith('releases')) {
    const next = held[node] && release(record, held[node].id, view, nonce);
    return after({ record: next ?? record, held: { ...held, [node]: undefined } });
  }
  const request = aRequest(node, { permitId: `permit-${moves.length}`, nonce, held: believes(world, node) });
  const decision = decide(record, request, view);
  if (decision.outcome === 'denied') return { ...after({}), decision };
  return { ...after({ record: decision.record, held: { ...held, [node]: decision.permit } }), decision };
}
