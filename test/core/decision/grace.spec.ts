import { decide, isBehind, pendingRecord, restore } from '../../../lib/core/decision/index.js';
import { DURATION, START, TOLERANCE, aChange, aDefinition, aPermit, aRecord, aRequest, viewAt } from './worlds.js';

const held = aPermit('holder');
const known = aRecord({ permits: [held], seq: 9, revision: 3, lastToken: held.token });
const restored = restore(known, undefined, viewAt(1000), 'restored');

describe('a record that is put back after the store lost it', () => {
  it('grants no new permit until the longest permit would have ended', () => {
    const free = restore({ ...known, permits: [] }, undefined, viewAt(1000), 'restored');
    const last = 1000 + DURATION + TOLERANCE - 1;
    expect(decide(free, aRequest('node'), viewAt(last))).toMatchObject({ outcome: 'denied', reason: 'recovering' });
    expect(decide(free, aRequest('node'), viewAt(last + 1)).outcome).toBe('granted');
  });

  it('has a grace as long as the longest permit that it knows, however short the definition', () => {
    const long = aPermit('holder', { duration: 60_000, expiresAt: START + 60_000 });
    const { grace } = restore({ ...known, permits: [long] }, undefined, viewAt(1000), 'restored');
    expect(grace).toMatchObject({ expiresAt: START + 61_000, duration: 60_000 });
  });

  it('has a grace as long as the longest duration that a permit keeps, also after it was refreshed for a shorter one', () => {
    const long = aPermit('holder', { asked: { duration: 60_000, under: DURATION } });
    const { grace } = restore({ ...known, permits: [long] }, undefined, viewAt(1000), 'restored');
    expect(grace).toMatchObject({ expiresAt: START + 61_000, duration: 60_000 });
  });

  it('begins the grace that goes on again when it is put back a second time, by a node that knows only shorter permits', () => {
    const displaced = aPermit('holder', { duration: 60_000, expiresAt: START + 60_000 });
    const first = restore({ ...known, permits: [displaced] }, undefined, viewAt(1000), 'first');
    const forgotten = { ...first, permits: [] };
    const again = restore(forgotten, undefined, viewAt(2000), 'again');
    expect(again.grace).toMatchObject({ expiresAt: first.grace!.expiresAt + 1000, duration: 60_000 });
    const merged = restore({ ...known, permits: [] }, { ...forgotten, seq: 1 }, viewAt(2000), 'merged');
    expect(merged.grace).toMatchObject({ expiresAt: first.grace!.expiresAt + 1000, duration: 60_000 });
  });

  it('has no origin if it was known only as pending: others may have defined and granted it since', () => {
    const pending = pendingRecord(START, 'pending');
    expect(restore(pending, undefined, viewAt(1000), 'restored').origin).toBeUndefined();
    expect(restore({ ...known, origin: 'first' }, undefined, viewAt(1000), 'restored').origin).toBe('first');
  });

  it('refreshes a permit for the holder that still has it', () => {
    const decision = decide(restored, aRequest('holder', { held, onlyRefresh: true }), viewAt(1001));
    const { id, slot, token } = held;
    expect(decision).toMatchObject({ outcome: 'refreshed', permit: { id, slot, token } });
  });

  it('takes back a permit that it never knew, from the holder that still has it', () => {
    const unknown = aPermit('stranger', { token: held.token + 5 });
    const decision = decide(restored, aRequest('stranger', { held: unknown, onlyRefresh: true }), viewAt(1001));
    expect(decision).toMatchObject({
      outcome: 'refreshed',
      permit: { id: unknown.id, token: unknown.token },
      record: { lastToken: unknown.token, permits: [{ id: unknown.id }] },
    });
  });

  it('does not refresh what merely stands in it for a holder that lost it by its own clocks', () => {
    expect(decide(restored, aRequest('holder'), viewAt(1001))).toMatchObject({
      outcome: 'denied',
      reason: 'recovering',
    });
  });

  it('refuses a holder whose slot was granted on with a higher token', () => {
    const stale = aPermit('stranger', { token: held.token - 1 });
    const decision = decide(restored, aRequest('stranger', { held: stale, onlyRefresh: true }), viewAt(1001));
    expect(decision).toMatchObject({ outcome: 'denied', reason: 'permit-lost' });
  });

  it('ends a re-asserted lease later than any that was written before it', () => {
    const further = { ...known, permits: [{ ...held, expiresAt: held.expiresAt + 700 }] };
    const record = restore(further, undefined, viewAt(1000), 'restored');
    const decision = decide(record, aRequest('holder', { held, duration: 100 }), viewAt(1001));
    expect(decision).toMatchObject({ permit: { expiresAt: held.expiresAt + 701 } });
  });

  it('forgets the grace with the first write after it', () => {
    const decision = decide(restored, aRequest('node'), viewAt(1000 + DURATION + TOLERANCE));
    expect(decision.outcome === 'granted' && decision.record.grace).toBeUndefined();
  });
});

describe('a record that is put back where someone who knew less wrote on', () => {
  const found = aRecord({
    seq: 2,
    revision: 1,
    lastToken: held.token + 50,
    definition: aDefinition({ permits: 5 }),
    permits: [aPermit('newcomer', { slot: 1, token: held.token + 50 })],
  });
  const merged = restore(known, found, viewAt(1000), 'merged');

  it('is behind neither of the two, so that no node restores it again', () => {
    expect(isBehind(merged, known)).toBe(false);
    expect(isBehind(merged, found)).toBe(false);
  });

  it('is noticed by one who knew as many writes, of which the last was another one', () => {
    const fork = { ...known, nonce: 'of someone else' };
    expect(isBehind(fork, known)).toBe(true);
    expect(isBehind(known, { ...known })).toBe(false);
    expect(isBehind(restore(known, fork, viewAt(1000), 'merged'), fork)).toBe(false);
  });

  it('has the definition of the higher revision and the permits of both', () => {
    expect(merged).toMatchObject({ revision: 3, definition: aDefinition() });
    expect(merged.permits.map(({ instance }) => instance).toSorted()).toEqual(['holder', 'newcomer']);
  });

  it('has the definition that was edited where the data were lost, when that is further', () => {
    const edited = { ...found, revision: 4, change: aChange('edit') };
    const { revision, definition, change } = restore(known, edited, viewAt(1000), 'merged');
    expect({ revision, definition, change }).toEqual({
      revision: 4,
      definition: found.definition,
      change: edited.change,
    });
  });

  it('keeps the permit with the higher token where a slot was granted twice', () => {
    const rival = { ...found, permits: [aPermit('newcomer', { token: held.token + 50 })] };
    const { permits } = restore(known, rival, viewAt(1000), 'merged');
    expect(permits.map(({ instance }) => instance)).toEqual(['newcomer']);
  });

  it('has a grace as long as the longest of both, also of a permit that lost its slot: its holder may be at work', () => {
    const long = aPermit('holder', { duration: 60_000, expiresAt: START + 60_000 });
    const rival = { ...found, permits: [aPermit('newcomer', { token: held.token + 50 })] };
    const { grace, permits } = restore({ ...known, permits: [long] }, rival, viewAt(1000), 'merged');
    expect(permits.map(({ instance }) => instance)).toEqual(['newcomer']);
    expect(grace).toMatchObject({ expiresAt: START + 61_000, duration: 60_000 });
  });
});
