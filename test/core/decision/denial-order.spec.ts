import { type AcquireRequest, type SemaphoreRecord, decide } from '../../../lib/core/decision/index.js';
import { aDefinition, aPermit, aRecord, aRequest, viewAt } from './worlds.js';

/** Each row mends what the row before it was denied for, and keeps every later reason. */
const full = { permits: [aPermit('other')] };
const ROWS: [string, SemaphoreRecord | undefined, Partial<AcquireRequest>][] = [
  ['no-definition', undefined, {}],
  ['no-definition', aRecord({ ...full, definition: undefined }), {}],
  ['group', aRecord({ ...full, definition: aDefinition({ groupPattern: 'prod', acquirerPattern: 'app' }) }), {}],
  ['acquirer', aRecord({ ...full, definition: aDefinition({ acquirerPattern: 'app' }) }), {}],
  [
    'recovering',
    aRecord({ ...full, grace: { id: 'grace', expiresAt: aPermit('x').expiresAt, duration: 10_000 } }),
    { onlyRefresh: true },
  ],
  ['permit-lost', aRecord(full), { onlyRefresh: true }],
  ['no-permit', aRecord(full), {}],
];

describe('a request that is denied', () => {
  it.each(ROWS)('hears of %s before anything that comes later in the order', (reason, record, changes) => {
    expect(decide(record, aRequest('node', changes), viewAt(0))).toMatchObject({ outcome: 'denied', reason });
  });

  it('hears of the group before the acquirer even when it holds a permit', () => {
    const held = aPermit('node');
    const record = aRecord({ permits: [held], definition: aDefinition({ groupPattern: 'x', acquirerPattern: 'y' }) });
    expect(decide(record, aRequest('node', { held }), viewAt(0))).toMatchObject({ reason: 'group' });
  });

  it('is refreshed in place of granted when it holds one of two', () => {
    const held = aPermit('node');
    const record = aRecord({ permits: [held], definition: aDefinition({ permits: 2 }) });
    expect(decide(record, aRequest('node', { held }), viewAt(1))).toMatchObject({
      outcome: 'refreshed',
      permit: { id: held.id },
    });
  });

  it('names the holders, without permits that expired', () => {
    const alive = aPermit('alive', { slot: 1 });
    const dead = aPermit('dead', { expiresAt: alive.expiresAt - 5000 });
    const record = aRecord({ permits: [dead, alive], definition: aDefinition({ permits: 1 }) });
    const decision = decide(record, aRequest('node'), viewAt(5500));
    expect(decision).toEqual({ outcome: 'denied', reason: 'no-permit', holders: [alive] });
  });
});
