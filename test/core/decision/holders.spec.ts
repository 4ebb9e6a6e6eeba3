import { decide } from '../../../lib/core/decision/index.js';
import { DURATION, START, TOLERANCE, aDefinition, aPermit, aRecord, aRequest, viewAt } from './worlds.js';

describe('a permit that stands in the record', () => {
  it('still keeps others out in the last ms of the tolerance, and no longer after it', () => {
    const record = aRecord({ permits: [aPermit('other')] });
    expect(decide(record, aRequest('node'), viewAt(DURATION + TOLERANCE - 1)).outcome).toBe('denied');
    expect(decide(record, aRequest('node'), viewAt(DURATION + TOLERANCE)).outcome).toBe('granted');
  });

  it('is not refreshed for a node that does not have it by its own clocks: it gets another one', () => {
    const record = aRecord({ permits: [aPermit('node')], lastToken: START * 1024 });
    const decision = decide(record, aRequest('node'), viewAt(1));
    expect(decision).toMatchObject({ outcome: 'granted', permit: { id: 'new-of-node', slot: 0 } });
    expect(decision.outcome === 'granted' && decision.record.permits).toHaveLength(1);
  });

  it('is taken as granted when an earlier attempt of the same call got it', () => {
    const own = aPermit('node', { id: 'new-of-node' });
    const decision = decide(aRecord({ permits: [own] }), aRequest('node'), viewAt(1));
    expect(decision).toMatchObject({ outcome: 'granted', permit: { id: own.id, token: own.token } });
  });

  it('is never refreshed for less than its holder still counts on, also when cluster time jumped ahead', () => {
    const held = aPermit('node', { duration: 60_000, expiresAt: START + 60_000 });
    const request = aRequest('node', { held, heldFor: 49_999.5 });
    const decision = decide(aRecord({ permits: [held] }), request, viewAt(59_000));
    expect(decision).toMatchObject({ permit: { duration: 50_000, expiresAt: START + 109_000 } });
  });

  it('is not claimed by another holder of the same process', () => {
    const held = aPermit('node');
    const decision = decide(aRecord({ permits: [held] }), aRequest('node', { holder: 'other', held }), viewAt(1));
    expect(decision).toMatchObject({ outcome: 'denied', reason: 'no-permit' });
  });

  it('is not claimed by a process of the same name', () => {
    const held = aPermit('node');
    const twin = aRequest('node', { instance: 'twin', holder: 'twin' });
    expect(decide(aRecord({ permits: [held] }), twin, viewAt(1))).toMatchObject({ reason: 'no-permit' });
  });
});

describe('after an edit to fewer permits', () => {
  const [low, high] = [aPermit('low'), aPermit('high', { slot: 1 })];
  const record = aRecord({ permits: [low, high], definition: aDefinition({ permits: 1 }) });

  it('the highest slots are not refreshed, not even for a run that goes on', () => {
    const request = aRequest('high', { held: high, running: true });
    expect(decide(record, request, viewAt(1))).toMatchObject({ outcome: 'denied', reason: 'no-permit' });
  });

  it('the lowest slots are refreshed', () => {
    expect(decide(record, aRequest('low', { held: low }), viewAt(1)).outcome).toBe('refreshed');
  });

  it('a low slot that is free stays so while as many as allowed are held', () => {
    const surplus = aRecord({ permits: [high], definition: aDefinition({ permits: 1 }) });
    expect(decide(surplus, aRequest('node'), viewAt(1))).toMatchObject({ reason: 'no-permit' });
  });
});

describe('while a semaphore is drained', () => {
  const held = aPermit('node');
  const paused = aRecord({ permits: [held], definition: aDefinition({ permits: 0 }) });
  const moved = aRecord({ permits: [held], definition: aDefinition({ groupPattern: 'elsewhere' }) });

  it.each([
    ['paused', paused],
    ['moved to another group', moved],
  ])('a run that goes on may refresh its permit though it is %s', (_how, record) => {
    expect(decide(record, aRequest('node', { held, running: true }), viewAt(1)).outcome).toBe('refreshed');
  });

  it.each([
    ['paused', paused, 'no-permit'],
    ['moved to another group', moved, 'group'],
  ])('an unused permit is not refreshed when it is %s', (_how, record, reason) => {
    expect(decide(record, aRequest('node', { held }), viewAt(1))).toMatchObject({ outcome: 'denied', reason });
  });

  it('a run that lost its permit does not get another one', () => {
    const request = aRequest('node', { held, running: true, onlyRefresh: true });
    expect(decide({ ...moved, permits: [] }, request, viewAt(1))).toMatchObject({ reason: 'permit-lost' });
  });

  it('no new holder starts in a pause', () => {
    expect(decide(paused, aRequest('other'), viewAt(1))).toMatchObject({ reason: 'no-permit' });
  });
});
