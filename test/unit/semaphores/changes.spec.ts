import { describe, expect, it } from '@jest/globals';
import { edit, expire, expired, release, remove } from '../../../lib/semaphores/index.js';
import { DURATION, TOLERANCE, aDefinition, aPermit, aRecord, viewAt } from './worlds.js';

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
    const next = edit(record, definition, viewAt(1), 'n');
    expect(next).toMatchObject({ definition, revision: 2, permits: [held, other], lastToken: 7 });
  });
});

describe('remove', () => {
  it('takes the definition and all permits, and remembers token and revision', () => {
    const removed = remove(record, viewAt(1), 'n')!;
    expect(removed).toMatchObject({ permits: [], revision: 2, lastToken: 7 });
    expect(removed.definition).toBeUndefined();
  });

  it('has nothing to write the second time', () => {
    expect(remove(remove(record, viewAt(1), 'n')!, viewAt(2), 'm')).toBeUndefined();
  });
});
