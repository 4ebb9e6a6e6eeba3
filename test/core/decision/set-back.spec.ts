import { LeaseObservations } from '../../../lib/core/clock/index.js';
import { EMPTY_SHARD, ShardNames, decide, restoreShard, withGraceFor } from '../../../lib/core/decision/index.js';
import { DURATION, START, TOLERANCE, aPermit, aRecord, aRequest, viewAt } from './worlds.js';

const HOUR = 3_600_000;

describe('after the clocks were set back by hours, a watcher', () => {
  it.each([0, -2 * HOUR])('waits for a permit of a definition that is put back into a lost shard: by %d ms', (jump) => {
    const short = aPermit('n1', { duration: 900_000, expiresAt: START + 900_000 });
    const names = ShardNames.of([['order-1', { revision: 1, permits: [short] }]]);
    const known = { ...EMPTY_SHARD, nonce: 'last', seq: 5, at: START, revision: 1, names };
    const restored = restoreShard(known, undefined, viewAt(jump), 'restored');
    const { grace } = withGraceFor(restored, HOUR, viewAt(jump));
    const seen = new LeaseObservations(TOLERANCE);
    seen.observe([grace!], 0);
    expect(seen.endOf(grace!)!.notAfter).toBeGreaterThanOrEqual(HOUR);
  });

  it.each([0, -HOUR])('tells a refresh from one of the same text that was lost: by %d ms', (jump) => {
    const held = aPermit('holder');
    const record = aRecord({ permits: [held] });
    const refreshAt = (after: number) => {
      const request = aRequest('holder', { held, heldFor: DURATION - after, onlyRefresh: true, nonce: `at-${after}` });
      const decision = decide(record, request, viewAt(jump + after));
      if (decision.outcome !== 'refreshed') throw new Error(decision.outcome);
      return decision.permit;
    };
    const seen = new LeaseObservations(TOLERANCE);
    seen.observe([held], 0);
    seen.observe([refreshAt(1000)], 1000);
    const second = refreshAt(6000);
    seen.observe([second], 6001);
    expect(seen.endOf(second)!.notAfter).toBeGreaterThanOrEqual(6000 + second.duration);
  });
});
