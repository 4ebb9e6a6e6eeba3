import type { Decision } from '../../../lib/core/decision/index.js';
import { GENESIS, MOST_TICKS, MOVES, type SmallWorld, believes, play, viewOf } from './small-world.js';

const LONGEST_GAME = 6;

type Rule = (before: SmallWorld, after: SmallWorld, decision?: Decision) => string | undefined | false;

/** Plays every sequence of moves, and gives the first that breaks the rule, in words. */
function firstBreach(rule: Rule, world: SmallWorld = GENESIS): string | undefined {
  for (const move of MOVES) {
    if (move === 'tick' && world.ticks === MOST_TICKS) continue;
    const { world: next, decision } = play(world, move);
    const breach = rule(world, next, decision);
    if (breach) return `${next.moves.join(', ')}: ${breach}`;
    const later = next.moves.length < LONGEST_GAME ? firstBreach(rule, next) : undefined;
    if (later) return later;
  }
  return undefined;
}

const isWritten = (before: SmallWorld, after: SmallWorld) => before.record !== after.record;

describe('in every small world', () => {
  it('no more nodes than permits believe that they hold one when another is granted', () => {
    const breach = firstBreach((_before, after, decision) => {
      if (decision?.outcome !== 'granted') return undefined;
      const believers = (['A', 'B'] as const).filter((node) => believes(after, node)).length;
      return believers > after.record.definition!.permits && `${believers} believe`;
    });
    expect(breach).toBeUndefined();
  });

  it('no two that believe are in one slot', () => {
    const breach = firstBreach((_before, after) => {
      const [one, other] = [believes(after, 'A'), believes(after, 'B')];
      return one && other && one.slot === other.slot && `both in slot ${one.slot}`;
    });
    expect(breach).toBeUndefined();
  });

  it('a grant takes the lowest free slot, below the number of permits', () => {
    const breach = firstBreach((before, after, decision) => {
      if (decision?.outcome !== 'granted') return undefined;
      const others = after.record.permits.filter((permit) => permit.id !== decision.permit.id);
      const { slot } = decision.permit;
      const taken = new Set(others.map((permit) => permit.slot));
      const isLowest = !taken.has(slot) && Array.from({ length: slot }, (_, lower) => lower).every((s) => taken.has(s));
      return (!isLowest || slot >= before.record.definition!.permits) && `slot ${slot}`;
    });
    expect(breach).toBeUndefined();
  });

  it('each grant has a higher token than every grant before it', () => {
    const breach = firstBreach((before, after, decision) => {
      if (decision?.outcome !== 'granted') return undefined;
      const isHigher = decision.permit.token > before.record.lastToken;
      return (!isHigher || after.record.lastToken !== decision.permit.token) && `token ${decision.permit.token}`;
    });
    expect(breach).toBeUndefined();
  });

  it('a refresh keeps id, slot, token and grantedAt, and ends later', () => {
    const breach = firstBreach((before, _after, decision) => {
      if (decision?.outcome !== 'refreshed') return undefined;
      const { permit } = decision;
      const old = before.record.permits.find((each) => each.id === permit.id);
      const isKept = old?.slot === permit.slot && old.token === permit.token && old.grantedAt === permit.grantedAt;
      return (!isKept || permit.expiresAt <= old.expiresAt) && 'changed';
    });
    expect(breach).toBeUndefined();
  });

  it('no request is refused while a slot is free, and no slot is granted twice', () => {
    const breach = firstBreach((before, after, decision) => {
      const alive = before.record.permits.filter((permit) => !viewOf(before).isExpired(permit));
      const instances = new Set(after.record.permits.map((permit) => permit.instance));
      if (instances.size < after.record.permits.length) return 'one node has two';
      const asker = after.moves.at(-1)![0];
      const others = alive.filter((permit) => permit.instance !== asker).length;
      const isFree = others < before.record.definition!.permits && !alive.some((permit) => permit.instance === asker);
      return decision?.outcome === 'denied' && isFree && `refused as ${decision.reason}`;
    });
    expect(breach).toBeUndefined();
  });

  it('a write counts on by one, and takes nothing away that is alive and was not released', () => {
    const breach = firstBreach((before, after) => {
      if (!isWritten(before, after)) return undefined;
      if (after.record.seq !== before.record.seq + 1) return 'seq';
      const move = after.moves.at(-1)!;
      const asker = move.endsWith('s') ? move[0] : undefined;
      const ids = new Set(after.record.permits.map((permit) => permit.id));
      const lost = before.record.permits.find(
        (permit) => !viewOf(before).isExpired(permit) && permit.instance !== asker && !ids.has(permit.id),
      );
      return lost && `lost ${lost.id}`;
    });
    expect(breach).toBeUndefined();
  });

  it('a write leaves nothing expired behind', () => {
    const breach = firstBreach(
      (before, after) =>
        isWritten(before, after) && after.record.permits.some((each) => viewOf(after).isExpired(each)) && 'expired',
    );
    expect(breach).toBeUndefined();
  });
});
