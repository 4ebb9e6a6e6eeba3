import fc from 'fast-check';
import {
  CHANGES,
  CorruptRecordError,
  HIGHEST_COUNT,
  NewerRecordError,
  type SemaphoreRecord,
  decodeRecord,
  encodeRecord,
} from '../../../lib/core/decision/index.js';
import { aChange, aDefinition, aPermit, aRecord } from './worlds.js';

const whole = fc.nat(HIGHEST_COUNT);
/** Up to the year 9999. */
const time = fc.nat(253_402_300_799_999);
const name = fc.string({ minLength: 1 });
const span = fc.nat(Math.floor(253_402_300_799_999 / 2));
const expiring = { id: name, expiresAt: time, duration: span };
const positive = fc.integer({ min: 1 });
const permitFields = {
  ...expiring,
  slot: whole,
  token: whole,
  instance: fc.string(),
  holder: fc.string(),
  acquirer: fc.string(),
  group: fc.string(),
  grantedAt: time,
};
const permit = fc.oneof(
  fc.record(permitFields),
  fc.record({ ...permitFields, asked: fc.record({ duration: positive, under: positive }) }),
);
const definition = fc.record({
  name,
  groupPattern: fc.string(),
  acquirerPattern: fc.string(),
  permits: whole,
  duration: fc.integer({ min: 1 }),
});
const change = fc.record(
  {
    id: name,
    kind: fc.constantFrom(...CHANGES),
    by: fc.string(),
    at: time,
    reason: fc.string(),
  },
  { requiredKeys: ['id', 'kind', 'by', 'at'] },
);
const pause = fc.record(
  { by: fc.string(), at: time, reason: fc.string(), groupPattern: fc.string() },
  { requiredKeys: ['by', 'at', 'groupPattern'] },
);
const numbers = { seq: whole, at: time, revision: whole, lastToken: whole };
const record = fc.record(
  {
    v: fc.constant(1 as const),
    nonce: name,
    ...numbers,
    definition,
    permits: fc.array(permit),
    change,
    pause,
    grace: fc.record(expiring),
  },
  { requiredKeys: ['v', 'nonce', 'seq', 'at', 'revision', 'lastToken', 'permits'] },
) as fc.Arbitrary<SemaphoreRecord>;

const valid = aRecord({ permits: [aPermit('node')] });
const changed = (changes: object) => JSON.stringify({ ...valid, ...changes });
const withPermit = (changes: object) => changed({ permits: [{ ...aPermit('node'), ...changes }] });
const withDefinition = (changes: object) => changed({ definition: { ...aDefinition(), ...changes } });

describe("a record's text", () => {
  it('reads back as the record that was written', () => {
    fc.assert(
      fc.property(record, (written) => {
        expect(decodeRecord('job', encodeRecord(written))).toEqual(written);
      }),
    );
  });

  it('is JSON, and the same whether the record was made or read', () => {
    fc.assert(
      fc.property(record, (written) => {
        const text = encodeRecord(written);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(written)));
        expect(encodeRecord(decodeRecord('job', text))).toBe(text);
      }),
    );
  });

  it('is refused clearly when a newer version wrote it, whatever else stands in it', () => {
    const read = () => decodeRecord('job', JSON.stringify({ v: 2, later: true }));
    expect(read).toThrow(NewerRecordError);
    expect(read).toThrow('"job" has version 2, this package reads 1: upgrade this node');
  });

  it.each([
    ['nothing', '', 'not JSON'],
    ['half a record', encodeRecord(valid).slice(0, -9), 'not JSON'],
    ['null', 'null', 'expected object'],
    ['a number', '17', 'expected object'],
    ['a list', '[]', 'expected object'],
    ['an object of another kind', '{"hello":"world"}', 'v: '],
    ['version 0', changed({ v: 0 }), 'v: '],
    ['a version in words', changed({ v: '1' }), 'v: '],
    ['no nonce', changed({ nonce: '' }), 'nonce: '],
    ['a negative seq', changed({ seq: -1 }), 'seq: '],
    ['a broken time', changed({ at: 1.5 }), 'at: '],
    ['a revision in words', changed({ revision: 'x' }), 'revision: '],
    ['a token beyond what is exact', changed({ lastToken: 2 ** 60 }), 'lastToken: '],
    ['permits that are no list', changed({ permits: {} }), 'permits: '],
    ['a permit without a slot', withPermit({ slot: undefined }), 'permits.0.slot: '],
    ['a permit with a negative expiry', withPermit({ expiresAt: -5 }), 'permits.0.expiresAt: '],
    ['a permit that no calendar shows the end of', withPermit({ expiresAt: 8.7e15 }), 'permits.0.expiresAt: '],
    ['a change at a time that no calendar has', changed({ change: { ...aChange(), at: 8.7e15 } }), 'change.at: '],
    ['a permit without an id', withPermit({ id: '' }), 'permits.0.id: '],
    ['a permit with an unknown field', withPermit({ colour: 'red' }), 'permits.0.colour: '],
    ['a definition without a duration', withDefinition({ duration: 0 }), 'definition.duration: '],
    ['a definition with half a permit', withDefinition({ permits: 0.5 }), 'definition.permits: '],
    ['an unknown field', changed({ colour: 'red' }), 'colour'],
    ['a grace without an end', changed({ grace: { id: 'grace', duration: 1 } }), 'grace.expiresAt: '],
    ['a change of an unknown kind', changed({ change: { ...aChange(), kind: 'x' } }), 'change.kind: '],
    ['a change without an id', changed({ change: { ...aChange(), id: '' } }), 'change.id: '],
    ['a pause without a pattern to come back', changed({ pause: { by: 'ann', at: 1 } }), 'pause.groupPattern: '],
  ])('is corrupt when it is %s: the error names the semaphore and the fault', (_what, text, fault) => {
    const read = () => decodeRecord('job', text);
    expect(read).toThrow(CorruptRecordError);
    expect(read).toThrow('semaphore "job"');
    expect(read).toThrow(fault);
  });

  it('never throws anything but what is documented, whatever the text', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.jsonValue().map((value) => changed({ permits: value })),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const error = faultOf(text);
        expect(error === undefined || error instanceof CorruptRecordError || error instanceof NewerRecordError).toBe(
          true,
        );
      }),
    );
  });

  it('is shown in the error by its beginning only', () => {
    expect((faultOf('x'.repeat(1_000_000)) as Error).message.length).toBeLessThan(400);
  });
});

function faultOf(text: string): unknown {
  try {
    decodeRecord('job', text);
    return undefined;
  } catch (error) {
    return error;
  }
}
