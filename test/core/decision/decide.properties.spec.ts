import fc from 'fast-check';
import {
  type SemaphoreRecord,
  type StoredPermit,
  decide,
  decodeRecord,
  encodeRecord,
} from '../../../lib/core/decision/index.js';
import { DURATION, START, TOLERANCE, aDefinition, aPermit, aRecord, aRequest, viewAt } from './worlds.js';

/** Permits of different nodes in different slots, some of them long over. */
const permits: fc.Arbitrary<StoredPermit[]> = fc
  .uniqueArray(fc.record({ slot: fc.nat(11), ends: fc.integer({ min: -2 * DURATION, max: 2 * DURATION }) }), {
    selector: ({ slot }) => slot,
    maxLength: 10,
  })
  .map((all) =>
    all.map(({ slot, ends }) => aPermit(`node-${slot}`, { slot, token: slot + 1, expiresAt: START + ends })),
  );

const record: fc.Arbitrary<SemaphoreRecord> = fc
  .record({ permits, allowed: fc.nat(8), lastToken: fc.integer({ min: 100, max: START * 1025 }) })
  .map(({ permits: held, allowed, lastToken }) =>
    aRecord({ permits: held, lastToken, definition: aDefinition({ permits: allowed }) }),
  );

/** ms after the start. */
const moment = fc.integer({ min: 0, max: 3 * DURATION });

describe('whatever the record and the moment', () => {
  it('a grant leaves at most as many alive as there are permits, each in a slot of its own', () => {
    fc.assert(
      fc.property(record, moment, (before, after) => {
        const decision = decide(before, aRequest('newcomer'), viewAt(after));
        fc.pre(decision.outcome === 'granted');
        const { permits: held, definition } = decision.record;
        expect(held.length).toBeLessThanOrEqual(definition!.permits);
        expect(new Set(held.map(({ slot }) => slot)).size).toBe(held.length);
        expect(decision.permit.slot).toBeLessThan(definition!.permits);
      }),
    );
  });

  it('a newcomer is granted exactly when fewer are alive than there are permits', () => {
    fc.assert(
      fc.property(record, moment, (before, after) => {
        const alive = before.permits.filter(({ expiresAt }) => expiresAt + TOLERANCE > START + after).length;
        const isFree = alive < before.definition!.permits;
        const { outcome } = decide(before, aRequest('newcomer'), viewAt(after));
        expect(outcome).toBe(isFree ? 'granted' : 'denied');
      }),
    );
  });

  it('tokens outgrow the last one and the clock', () => {
    fc.assert(
      fc.property(record, moment, (before, after) => {
        const decision = decide(before, aRequest('newcomer'), viewAt(after));
        fc.pre(decision.outcome === 'granted');
        expect(decision.permit.token).toBeGreaterThan(before.lastToken);
        expect(decision.permit.token).toBeGreaterThanOrEqual((START + after) * 1024);
        expect(Number.isSafeInteger(decision.permit.token)).toBe(true);
      }),
    );
  });

  it('a refresh keeps id, slot and token, never shortens, and always ends later than before', () => {
    fc.assert(
      fc.property(
        record,
        fc.nat(9),
        moment,
        fc.integer({ min: 1, max: DURATION }),
        (before, index, after, duration) => {
          const held = before.permits[index];
          fc.pre(held !== undefined);
          const decision = decide(before, aRequest(held.instance, { held, duration }), viewAt(after));
          fc.pre(decision.outcome === 'refreshed');
          const { id, slot, token, expiresAt, duration: lasts } = decision.permit;
          expect({ id, slot, token }).toEqual({ id: held.id, slot: held.slot, token: held.token });
          expect(expiresAt).toBeGreaterThan(held.expiresAt);
          expect(expiresAt).toBeGreaterThanOrEqual(START + after + duration);
          expect(lasts).toBeGreaterThanOrEqual(duration);
          expect(lasts).toBeLessThanOrEqual(expiresAt - START - after);
        },
      ),
    );
  });

  it('the decision changes nothing that it was given, and is the same a second time', () => {
    fc.assert(
      fc.property(record, moment, (before, after) => {
        const text = encodeRecord(before);
        const decision = decide(before, aRequest('newcomer'), viewAt(after));
        expect(decide(decodeRecord('job', text), aRequest('newcomer'), viewAt(after))).toEqual(decision);
        expect(encodeRecord(before)).toBe(text);
      }),
    );
  });
});
