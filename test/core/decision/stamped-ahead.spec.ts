import fc from 'fast-check';
import {
  EMPTY_SHARD,
  ShardNames,
  decide,
  releaseAt,
  restore,
  restoreShard,
  withGraceFor,
} from '../../../lib/core/decision/index.js';
import { LeaseObservations } from '../../../lib/core/clock/index.js';
import { DURATION, START, TOLERANCE, aPermit, aRecord, aRequest, viewAt } from './worlds.js';

const AHEAD = 100_000;
const HOUR = 3_600_000;
/** Written at the start by a node whose clock was ahead. */
const held = aPermit('holder', { grantedAt: START + AHEAD, expiresAt: START + AHEAD + DURATION });

function refreshAt(after: number, permit = held, request: Parameters<typeof aRequest>[1] = {}) {
  const asked = aRequest('holder', { held: permit, onlyRefresh: true, ...request });
  const decision = decide(aRecord({ permits: [permit] }), asked, viewAt(after));
  if (decision.outcome !== 'refreshed') throw new Error(decision.outcome);
  return decision.permit;
}

describe('a permit that was stamped by a clock that is ahead', () => {
  it('lasts no longer by that when it is refreshed, and still ends later than before', () => {
    const permit = refreshAt(3000);
    expect(permit.duration).toBe(DURATION);
    expect(permit.expiresAt).toBeGreaterThan(held.expiresAt);
  });

  it('is as far ahead no longer when the clock has caught up', () => {
    let permit = held;
    for (let after = 3000; after <= 300_000; after += 3000) permit = refreshAt(after, permit);
    expect(permit).toMatchObject({ duration: DURATION, expiresAt: START + 310_000 });
  });

  it('keeps what is left of an extension', () => {
    const extended = { ...held, duration: 60_000, expiresAt: START + AHEAD + 60_000 };
    expect(refreshAt(10_000, extended, { heldFor: 50_000 }).duration).toBeGreaterThanOrEqual(50_000);
  });

  it('is kept after its release no longer than it would have lasted', () => {
    const record = aRecord({ permits: [held] });
    const next = releaseAt(record, held.id, held.grantedAt + 2 * DURATION, viewAt(100), 'n')!;
    expect(next.permits).toMatchObject([{ expiresAt: held.expiresAt, duration: DURATION }]);
  });

  it('makes the grace after a loss end later, and last no longer', () => {
    const known = aRecord({ permits: [held] });
    const { grace } = restore(known, undefined, viewAt(100), 'n');
    expect(grace).toMatchObject({ expiresAt: held.expiresAt, duration: DURATION });
    expect(restore({ ...known, grace }, undefined, viewAt(200), 'm').grace).toMatchObject({ duration: DURATION });
  });

  it('makes the grace end after all that it stamped, also if the restoring node has not heard it', () => {
    const known = aRecord({ at: START + AHEAD });
    expect(restore(known, undefined, viewAt(100), 'n').grace).toMatchObject({ expiresAt: START + AHEAD + DURATION });
    const shard = restoreShard({ ...EMPTY_SHARD, at: START + AHEAD }, undefined, viewAt(100), 'n');
    expect(shard.grace!.expiresAt).toBe(START + AHEAD + shard.grace!.duration);
  });

  it('does not hide how much of the grace of its shard is left', () => {
    const names = ShardNames.of([
      ['job', { revision: 1, permits: [aPermit('holder', { duration: HOUR, expiresAt: START + AHEAD + HOUR })] }],
    ]);
    const restored = restoreShard({ ...EMPTY_SHARD, names }, undefined, viewAt(0), 'n');
    expect(restored).toMatchObject({ grace: { duration: HOUR, expiresAt: START + AHEAD + HOUR } });
    const { grace } = withGraceFor(restored, DURATION, viewAt(HOUR - 1000));
    const seen = new LeaseObservations(TOLERANCE);
    seen.observe([restored.grace!], 0);
    seen.observe([grace!], HOUR - 1000);
    expect(seen.endOf(grace!)!.notAfter).toBeGreaterThanOrEqual(HOUR - 1000 + DURATION);
  });
});

it('a watcher that saw a refresh which the store lost counts from the next one, however far ahead the stamp was', () => {
  const within = fc.integer({ min: -2 * DURATION, max: 20 * DURATION });
  fc.assert(
    fc.property(within, fc.nat(DURATION), fc.nat(DURATION), (ahead, first, second) => {
      fc.pre(first < second);
      const permit = aPermit('holder', { expiresAt: START + ahead + DURATION });
      const refreshed = (after: number) => refreshAt(after, permit, { nonce: `at-${after}` });
      const seen = new LeaseObservations(TOLERANCE);
      for (const after of [first, second]) seen.observe([refreshed(after)], after);
      const { notAfter } = seen.endOf(refreshed(second))!;
      expect(notAfter).toBe(second + refreshed(second).duration + TOLERANCE);
    }),
    { numRuns: 2000 },
  );
});
