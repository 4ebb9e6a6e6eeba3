import {
  type Announcement,
  type CodeVerdict,
  codeVerdict,
  isStillDue,
  reasonsOf,
} from '../../../lib/operate/definitions/code-rule.js';
import { codeDefinition } from '../../../lib/core/permits/declared/node-code.js';
import { differencesSentence } from '../../../lib/operate/definitions/code-difference.js';
import { type SemaphoreRecord, createRecord } from '../../../lib/core/decision/index.js';

const at = (startedAt: number, fingerprint: string): Announcement => ({ startedAt, fingerprint });
const FOLLOWS = { own: 'new', follows: true };
const viewAt = (now: number) => ({ now, isExpired: ({ expiresAt }: { expiresAt: number }) => expiresAt <= now });

describe('whether a stored definition follows the code', () => {
  it.each<[string, CodeVerdict, Partial<SemaphoreRecord>, readonly Announcement[] | undefined]>([
    ['an operator has changed it', 'operator', { source: 'operator', fingerprint: 'old' }, [at(2, 'new')]],
    ['an operator has set what the code says', 'operator', { source: 'operator', fingerprint: 'new' }, [at(2, 'new')]],
    ['a record of an operator before any code', 'operator', {}, [at(2, 'new')]],
    ['it has the same fingerprint', 'same', { source: 'code', fingerprint: 'new' }, undefined],
    ['the registry can not be read', 'unsure', { source: 'code', fingerprint: 'old' }, undefined],
    ['the registry does not have this node yet', 'unsure', { source: 'code', fingerprint: 'old' }, []],
    ['the registry has others only', 'unsure', { source: 'code', fingerprint: 'old' }, [at(1, 'third')]],
    ['a rolling deploy goes on', 'announced', { source: 'code', fingerprint: 'old' }, [at(1, 'old'), at(2, 'new')]],
    ['an old pod restarts in it', 'announced', { source: 'code', fingerprint: 'old' }, [at(3, 'old'), at(2, 'new')]],
    ['it has ended', 'take', { source: 'code', fingerprint: 'old' }, [at(2, 'new'), at(3, 'new')]],
    ['a later node has a third one', 'later', { source: 'code', fingerprint: 'old' }, [at(2, 'new'), at(3, 'third')]],
    ['an earlier node has a third one', 'take', { source: 'code', fingerprint: 'old' }, [at(4, 'new'), at(3, 'third')]],
    ['a tie that this one loses', 'later', { source: 'code', fingerprint: 'old' }, [at(2, 'new'), at(2, 'zzz')]],
    ['a tie that this one wins', 'take', { source: 'code', fingerprint: 'old' }, [at(2, 'aaa'), at(2, 'new')]],
  ])('%s: %s', (_case, verdict, stored, announced) => {
    expect(codeVerdict(stored, { ...FOLLOWS, announced })).toBe(verdict);
  });

  it("stays with codeChanges: 'keep', whatever the registry says", () => {
    const stored = { source: 'code', fingerprint: 'old' } as const;
    expect(codeVerdict(stored, { own: 'new', follows: false, announced: [at(1, 'new')] })).toBe('kept');
  });

  it('is the same on each of the nodes that could take theirs: exactly one fingerprint is taken', () => {
    const announced = [at(5, 'a'), at(5, 'b'), at(4, 'c'), at(5, 'b')];
    const stored = { source: 'code', fingerprint: 'gone' } as const;
    const taken = ['a', 'b', 'c'].filter((own) => codeVerdict(stored, { own, follows: true, announced }) === 'take');
    expect(taken).toEqual(['b']);
  });
});

describe('the nodes whose code is the reason', () => {
  const announced = [at(5, 'new'), at(5, 'third'), at(4, 'third'), at(1, 'old'), at(2, 'old')];

  it.each<[CodeVerdict, string, readonly Announcement[]]>([
    ['announced', 'that have the stored definition', announced.slice(3)],
    ['later', 'that started last, with the definition that wins a tie', [at(5, 'third')]],
    ['take', 'that differ: none', []],
    ['operator', 'that differ: none', []],
  ])('of %s are those %s', (verdict, _which, nodes) => {
    expect(reasonsOf(verdict, { fingerprint: 'old' }, announced)).toEqual(nodes);
    expect(reasonsOf(verdict, { fingerprint: 'old' }, undefined)).toEqual([]);
  });
});

describe('a decision to follow the code', () => {
  const definition = { name: 'job', groupPattern: '.*', acquirerPattern: '.*', permits: 1, duration: 10_000 };
  const record = {
    ...createRecord(definition, 0, 'n'),
    source: 'code' as const,
    fingerprint: codeDefinition(definition).fingerprint,
  };

  it.each<[string, boolean, SemaphoreRecord, number]>([
    ['the record is as it was read', true, record, 0],
    ['only permits have changed', true, { ...record, seq: 9, nonce: 'm' }, 0],
    ['another revision came first', false, { ...record, revision: 2 }, 0],
    ['an operator changed it', false, { ...record, source: 'operator' }, 0],
    ['it was removed', false, { ...record, definition: undefined } as never, 0],
    ['the archive is further', false, record, 2],
    ['the record is in a grace', false, { ...record, grace: { id: 'g', expiresAt: 200, duration: 100 } }, 0],
    ['the grace has ended', true, { ...record, grace: { id: 'g', expiresAt: 100, duration: 100 } }, 0],
  ])('when %s, still counts: %s', (_case, isDue, found, archivedRevision) => {
    expect(isStillDue(found, record, archivedRevision, viewAt(100))).toBe(isDue);
  });

  it('knows a definition by its content', () => {
    const fingerprintOf = (content: typeof definition) => codeDefinition(content).fingerprint;
    expect(fingerprintOf({ ...definition })).toBe(fingerprintOf(definition));
    const others = [{ name: 'job2' }, { groupPattern: 'a' }, { acquirerPattern: 'a' }, { permits: 2 }, { duration: 1 }];
    const fingerprints = others.map((other) => fingerprintOf({ ...definition, ...other }));
    expect(new Set([...fingerprints, fingerprintOf(definition)]).size).toBe(6);
  });

  it('is told for twenty definitions with their fields, and for more by their names', () => {
    const differing = Array.from({ length: 1001 }, (_, index) => {
      const code = { ...definition, name: `job-${index}`, duration: 20_000 };
      return { code, record, verdict: 'announced' as const, nodes: [{ acquirer: 'app1', version: '1' }] };
    });
    const own = { acquirer: 'app2' };
    const told = differencesSentence(differing.slice(0, 20), own);
    expect(
      told.match(/duration "10s" \(in the code "20s"\): the code of app1 \(version 1\) still has it/g),
    ).toHaveLength(20);
    const sentence = differencesSentence(differing, own);
    expect(sentence).toMatch(
      /^1001 stored definitions count, not those in .*, app2: "job-0"; "job-1".*"job-999"; and 1 more, which "gatekeeper .* reset with these names/,
    );
    expect(sentence).not.toMatch(/\n/);
  });
});
