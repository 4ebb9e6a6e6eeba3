import fc from 'fast-check';
import {
  MATCHES_NONE,
  decide,
  decodeRecord,
  edit,
  encodeRecord,
  expire,
  expired,
  intendedDefinition,
  pause,
  reinstate,
  release,
  releaseAt,
  remove,
  resume,
} from '../../../lib/core/decision/index.js';
import { DURATION, START, TOLERANCE, aChange, aDefinition, aPermit, aRecord, aRequest, viewAt } from './worlds.js';

const held = aPermit('node');
const other = aPermit('other', { slot: 1 });
const record = aRecord({ permits: [held, other], lastToken: 7, definition: aDefinition({ permits: 2 }) });

describe('release', () => {
  it('frees the permit of that id and no other', () => {
    expect(release(record, held.id, viewAt(1), 'n')).toMatchObject({
      permits: [other],
      seq: 2,
      nonce: 'n',
      lastToken: 7,
    });
  });

  it('has nothing to write the second time', () => {
    const once = release(record, held.id, viewAt(1), 'n')!;
    expect(release(once, held.id, viewAt(2), 'm')).toBeUndefined();
  });

  it('does not free the permit that the same node got later', () => {
    const later = aRecord({ permits: [aPermit('node', { id: 'later' })] });
    expect(release(later, held.id, viewAt(1), 'n')).toBeUndefined();
  });
});

describe('releaseAt', () => {
  it('leaves the slot taken until then, and makes no node its holder', () => {
    const next = releaseAt(record, held.id, START + 400, viewAt(100), 'n')!;
    const [kept, ...others] = next.permits;
    expect(others).toEqual([other]);
    expect(kept).toMatchObject({
      slot: held.slot,
      token: held.token,
      holder: held.holder,
      expiresAt: START + 400,
      duration: 300,
    });
    expect(kept!.id).not.toBe(held.id);
    const again = aRequest('node', { held, permitId: 'again', onlyRefresh: true });
    expect(decide(next, again, viewAt(200))).toMatchObject({ outcome: 'denied', reason: 'permit-lost' });
    expect(decide(next, aRequest('node', { permitId: 'again' }), viewAt(200))).toMatchObject({ reason: 'no-permit' });
    expect(decodeRecord('job', encodeRecord(next))).toEqual(next);
  });

  it('never lets it last longer than it would have', () => {
    const next = releaseAt(record, held.id, held.expiresAt + 1, viewAt(100), 'n')!;
    expect(next.permits[0]).toMatchObject({ expiresAt: held.expiresAt, duration: DURATION - 100 });
  });

  it('frees at once what is over by cluster time and stands there still', () => {
    const late = viewAt(DURATION + TOLERANCE - 1);
    const next = releaseAt(record, held.id, START + 10 * DURATION, late, 'n')!;
    expect(next.permits).toEqual([other]);
    expect(decodeRecord('job', encodeRecord(next))).toEqual(next);
  });

  it('frees it at once when that moment is past', () => {
    expect(releaseAt(record, held.id, START + 100, viewAt(100), 'n')).toMatchObject({ permits: [other] });
    expect(releaseAt(record, 'unknown', START + 400, viewAt(100), 'n')).toBeUndefined();
  });
});

describe('expire', () => {
  it('has nothing to write while everything is alive', () => {
    expect(expire(record, viewAt(DURATION), 'n')).toBeUndefined();
  });

  it('drops what is over for everybody, and tells of it', () => {
    const late = viewAt(DURATION + TOLERANCE);
    const longer = { ...other, expiresAt: other.expiresAt + 1 };
    const mixed = { ...record, permits: [held, longer] };
    expect(expired(mixed, late)).toEqual([held]);
    expect(expire(mixed, late, 'n')?.permits).toEqual([longer]);
  });
});

describe('edit', () => {
  it('puts the definition in force, counts the revision on, and leaves the permits', () => {
    const definition = aDefinition({ permits: 1 });
    const next = edit(record, definition, aChange(), viewAt(1), 'n');
    expect(next).toMatchObject({ definition, revision: 2, permits: [held, other], lastToken: 7 });
  });
});

describe('pause', () => {
  const paused = pause(record, aChange('pause', 'flood'), viewAt(1), 'n')!;

  it('lets no group through, and remembers the pattern, by whom, when and why', () => {
    expect(paused.definition?.groupPattern).toBe(MATCHES_NONE);
    expect(paused).toMatchObject({
      revision: 2,
      permits: [held, other],
      pause: { by: 'ann', at: 1, reason: 'flood', groupPattern: record.definition?.groupPattern },
      change: { kind: 'pause' },
    });
  });

  it('of what is paused changes nothing', () => {
    expect(pause(paused, aChange('pause'), viewAt(2), 'm')).toBeUndefined();
  });

  it('is not ended by an edit: its group pattern is for afterwards', () => {
    const edited = edit(paused, aDefinition({ groupPattern: 'dr', permits: 5 }), aChange(), viewAt(2), 'm');
    expect(edited.definition).toMatchObject({ groupPattern: MATCHES_NONE, permits: 5 });
    expect(edited.pause).toMatchObject({ groupPattern: 'dr', reason: 'flood' });
  });

  it('ends with the former pattern in force', () => {
    const resumed = resume(paused, aChange('resume'), viewAt(2), 'm')!;
    expect(resumed).toMatchObject({ definition: record.definition, revision: 3, change: { kind: 'resume' } });
    expect(resumed.pause).toBeUndefined();
    expect(resume(resumed, aChange('resume'), viewAt(3), 'k')).toBeUndefined();
  });

  it('ends with the definition when that is removed', () => {
    expect(remove(paused, aChange('remove'), viewAt(2), 'm')?.pause).toBeUndefined();
    expect(pause(remove(record, aChange('remove'), viewAt(1), 'n')!, aChange(), viewAt(2), 'm')).toBeUndefined();
  });
});

describe('remove', () => {
  it('takes the definition and all permits, and remembers token and revision', () => {
    const removed = remove(record, aChange('remove'), viewAt(1), 'n')!;
    expect(removed).toMatchObject({ permits: [], revision: 2, lastToken: 7 });
    expect(removed.definition).toBeUndefined();
  });

  it('has nothing to write the second time', () => {
    expect(
      remove(remove(record, aChange('remove'), viewAt(1), 'n')!, aChange('remove'), viewAt(2), 'm'),
    ).toBeUndefined();
  });
});

describe('what was archived', () => {
  const definition = aDefinition({ permits: 5 });
  const archived = { revision: 4, definition, change: aChange('edit') };

  it('takes the place of what is missing, or of an earlier revision, whose permits stay', () => {
    expect(reinstate(archived, undefined, viewAt(1), 'n')).toMatchObject({ ...archived, permits: [], nonce: 'n' });
    const found = { ...record, revision: 3 };
    expect(reinstate(archived, found, viewAt(1), 'n')).toMatchObject({ ...archived, permits: [held, other], seq: 2 });
  });

  it.each([4, 5])('never takes the place of revision %d: it is as far', (revision) => {
    expect(reinstate(archived, { ...record, revision }, viewAt(1), 'n')).toBeUndefined();
  });

  it('as removed leaves no permit, and remembers the token', () => {
    const removed = reinstate({ revision: 4, change: aChange('remove') }, record, viewAt(1), 'n')!;
    expect(removed).toMatchObject({ revision: 4, permits: [], lastToken: 7 });
    expect(removed.definition).toBeUndefined();
  });
});

describe('whatever is paused, edited and resumed in whatever order', () => {
  const steps = fc.array(
    fc.oneof(
      fc.constant('pause' as const),
      fc.constant('resume' as const),
      fc.record({ groupPattern: fc.constantFrom('.*', 'a|b', 'default'), permits: fc.nat(3) }),
    ),
    { maxLength: 12 },
  );

  /** The record after the changes, and the intended definition: the last edit. */
  function play(moves: typeof steps extends fc.Arbitrary<infer Moves> ? Moves : never) {
    let current = aRecord();
    let intended = aDefinition();
    let isPaused = false;
    for (const move of moves) {
      const write = [viewAt(1), 'n'] as const;
      if (move === 'pause') current = pause(current, aChange('pause'), ...write) ?? current;
      else if (move === 'resume') current = resume(current, aChange('resume'), ...write) ?? current;
      else current = edit(current, (intended = aDefinition(move)), aChange(), ...write);
      if (typeof move === 'string') isPaused = move === 'pause';
    }
    return { current: decodeRecord('job', encodeRecord(current)), intended, isPaused };
  }

  it('the last edit is what is intended, and in force when it is not paused', () => {
    fc.assert(
      fc.property(steps, (moves) => {
        const { current, intended, isPaused } = play(moves);
        expect(intendedDefinition(current)).toEqual(intended);
        expect(current.definition).toEqual(isPaused ? { ...intended, groupPattern: MATCHES_NONE } : intended);
        expect(current.pause !== undefined).toBe(isPaused);
      }),
    );
  });

  it('no new holder gets in while it is paused, whatever the group', () => {
    fc.assert(
      fc.property(steps, fc.string(), (moves, group) => {
        const { current, isPaused } = play(moves);
        fc.pre(isPaused);
        expect(decide(current, aRequest('newcomer', { group }), viewAt(2))).toMatchObject({ reason: 'paused' });
      }),
    );
  });
});
