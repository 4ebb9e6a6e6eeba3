import {
  type SemaphoreRecord,
  type View,
  createRecord,
  decide,
  decodeRecord,
  encodeRecord,
  parseDefinition,
  prefer,
  release,
  restore,
} from '../../../lib/core/decision/index.js';
import { isIdle, takesAway } from '../../../lib/core/cell/semaphore-records.js';

const NOW = 1_700_000_000_000;
const definition = parseDefinition({ name: 'leader:default', duration: '10s' }, 500);
const viewAt = (now: number): View => ({ now, isExpired: ({ expiresAt }) => expiresAt <= now });
const asking = (instance: string) => ({
  instance,
  holder: instance,
  acquirer: instance,
  group: 'default',
  permitId: `permit of ${instance}`,
  nonce: `nonce of ${instance}`,
});

const FREE = createRecord(definition, NOW, 'first');
const PREFERENCE = { id: 'transfer', instance: 'b', expiresAt: NOW + 6000, duration: 6000 };
const KEPT = prefer(FREE, PREFERENCE, viewAt(NOW), 'second');

function granted(record: SemaphoreRecord, instance: string, now = NOW): SemaphoreRecord {
  const decision = decide(record, asking(instance), viewAt(now));
  if (decision.outcome === 'denied') throw new Error(decision.reason);
  return decision.record;
}

describe('a preference', () => {
  it.each([
    ['another process, while it lives', 'a', NOW + 5999, 'other-preferred'],
    ['the preferred process', 'b', NOW, 'granted'],
    ['another process, after it', 'a', NOW + 6000, 'granted'],
  ])('and a request of %s', (_of, instance, now, expected) => {
    const decision = decide(KEPT, asking(instance), viewAt(now));
    expect(decision.outcome === 'denied' ? decision.reason : decision.outcome).toBe(expected);
  });

  it.each([
    ['the process that it excludes, while it lives', 'b', NOW + 5999, 'other-preferred'],
    ['any other process', 'a', NOW, 'granted'],
    ['the process that it excludes, after it', 'b', NOW + 6000, 'granted'],
  ])('for all but one, and a request of %s', (_of, instance, now, expected) => {
    const record = prefer(FREE, { ...PREFERENCE, isExcluded: true }, viewAt(NOW), 'second');
    const stored = decodeRecord('leader:default', encodeRecord(record));
    const decision = decide(stored, asking(instance), viewAt(now));
    expect(decision.outcome === 'denied' ? decision.reason : decision.outcome).toBe(expected);
  });

  it('ends with the grant that it kept', () => {
    const record = granted(KEPT, 'b');
    expect(record).not.toHaveProperty('preference');
    const freed = release(record, 'permit of b', viewAt(NOW), 'freed')!;
    expect(decide(freed, asking('a'), viewAt(NOW)).outcome).toBe('granted');
  });

  it('wakes nodes that saw the free slot, when the permit that they did not see is released', () => {
    const freed = release(granted(KEPT, 'b'), 'permit of b', viewAt(NOW), 'freed')!;
    expect(takesAway({ record: freed, former: KEPT, own: false })).toBe(true);
    expect(takesAway({ record: KEPT, former: FREE, own: false })).toBe(false);
  });

  it('takes no permit from its holder, who can refresh it', () => {
    const held = granted(FREE, 'a');
    const kept = prefer(held, PREFERENCE, viewAt(NOW), 'kept');
    const [permit] = kept.permits;
    const refreshing = { ...asking('a'), held: permit!, heldFor: 10_000, onlyRefresh: true };
    expect(decide(kept, refreshing, viewAt(NOW + 1000))).toMatchObject({
      outcome: 'refreshed',
      record: { preference: PREFERENCE },
    });
    expect(decide(kept, asking('c'), viewAt(NOW))).toMatchObject({ outcome: 'denied', reason: 'no-permit' });
  });

  it('is dropped by the first write after its end', () => {
    const next = release(granted(KEPT, 'a', NOW + 6000), 'permit of a', viewAt(NOW + 6001), 'freed')!;
    expect(next).not.toHaveProperty('preference');
  });

  it('survives a restoration, with the grace', () => {
    expect(restore(KEPT, undefined, viewAt(NOW + 1), 'restored')).toMatchObject({ preference: PREFERENCE, grace: {} });
  });

  it('comes back from its text, and keeps the record from looking idle', () => {
    const text = encodeRecord(KEPT);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(KEPT)));
    expect(decodeRecord('leader:default', text)).toEqual(JSON.parse(text));
    expect(isIdle(encodeRecord(FREE))).toBe(true);
    expect(isIdle(text)).toBe(false);
  });
});
