import {
  type Belief,
  acknowledgementOf,
  applyRoot,
  endRevocation,
  noBelief,
  tokenOf,
} from '../../lib/allocation/node/belief.js';
import type { OwnedPage } from '../../lib/allocation/map/page.js';
import type { AllocationRoot } from '../../lib/allocation/map/root.js';
import { finish } from './divisions.js';
import { aPage, aRoot } from './maps.js';

const PAGES: Record<string, OwnedPage> = { ab: aPage('ab'), abc: aPage('abc'), a: aPage('a'), newA: aPage('a', 90) };
const pages = new Map(Object.entries(PAGES));

/** A root that gives the node these pages. */
const giving = (seq: number, keys: readonly string[], changes: Partial<AllocationRoot> = {}) =>
  aRoot({ seq, members: new Map([['n#0', keys]]), ...changes });

const apply = (belief: Belief, root: AllocationRoot, found = pages) => finish(applyRoot(belief, root, found));
const owning = (key: string) => apply(noBelief('n#0'), giving(7, [key])).belief;
const owned = (belief: Belief) => [...'abc'].filter((id) => tokenOf(belief, id) !== undefined).join('');

describe('a node that applies a root', () => {
  it('owns what its pages say, with their tokens', () => {
    const { belief, added } = apply(noBelief('n#0'), giving(7, ['ab']));
    expect(added).toEqual([
      { id: 'a', token: 50 },
      { id: 'b', token: 50 },
    ]);
    expect(tokenOf(belief, 'a')).toBe(50);
    expect(acknowledgementOf(belief)).toEqual({ born: 'b1', seq: 7 });
  });

  it('still owns what was taken away until the callback has ended, and acknowledges only then', () => {
    const { belief, revoked } = apply(owning('abc'), giving(8, ['a']));
    expect([...revoked!.resources.keys()]).toEqual(['b', 'c']);
    expect(owned(belief)).toBe('abc');
    expect(acknowledgementOf(belief)).toEqual({ born: 'b1', seq: 7 });
    const ended = endRevocation(belief, revoked!);
    expect(owned(ended)).toBe('a');
    expect(acknowledgementOf(ended)).toEqual({ born: 'b1', seq: 8 });
  });

  it('acknowledges nothing new while one of several callbacks runs', () => {
    const first = apply(owning('abc'), giving(8, ['ab']));
    const second = apply(first.belief, giving(9, ['a']));
    const ended = endRevocation(second.belief, second.revoked!);
    expect(acknowledgementOf(ended)).toEqual({ born: 'b1', seq: 7 });
    expect(acknowledgementOf(endRevocation(ended, first.revoked!))).toEqual({ born: 'b1', seq: 9 });
  });

  it('keeps its map of resources, from which lists are made, when a root changes nothing for it', () => {
    const before = owning('ab');
    expect(apply(before, giving(8, ['ab'])).belief.owned).toBe(before.owned);
    expect(apply(before, giving(8, ['abc'])).belief.owned).not.toBe(before.owned);
  });

  it('gets a new token without losing the resource', () => {
    const { belief, renewed, revoked } = apply(owning('a'), giving(8, ['newA']));
    expect(renewed).toEqual([{ id: 'a', token: 90 }]);
    expect(revoked).toBeUndefined();
    expect(tokenOf(belief, 'a')).toBe(90);
  });

  it.each([
    { when: 'is older', root: giving(6, []), applied: 7 },
    { when: 'is the same', root: giving(7, []), applied: 7 },
    { when: 'is of another lineage without a grace', root: giving(20, [], { born: 'b0' }), applied: 7 },
  ])('ignores one that $when', ({ root, applied }) => {
    const { belief, revoked } = apply(owning('ab'), root);
    expect(revoked).toBeUndefined();
    expect(owned(belief)).toBe('ab');
    expect(belief.applied!.seq).toBe(applied);
  });

  it('applies nothing while one of its pages is missing, and says which', () => {
    const { belief, missing, revoked } = apply(owning('abc'), giving(8, ['a', 'gone']));
    expect(missing).toEqual(['gone']);
    expect(revoked).toBeUndefined();
    expect(acknowledgementOf(belief)).toEqual({ born: 'b1', seq: 7 });
  });

  it('remembers the highest token of all, also of roots that it does not apply', () => {
    expect(apply(owning('a'), giving(6, [], { lastToken: 900 })).belief.top).toBe(900);
  });
});

describe('a node in a grace', () => {
  const restored = (keys: readonly string[]) => giving(8, keys, { born: 'b2', grace: true });

  it('keeps what it believes, with the old tokens, and begins nothing', () => {
    const { belief, added, renewed } = apply(owning('a'), restored(['newA', 'ab']));
    expect({ added, renewed }).toEqual({ added: [], renewed: [] });
    expect(owned(belief)).toBe('a');
    expect(tokenOf(belief, 'a')).toBe(50);
  });

  it('gives up what the copy does not give it, and acknowledges after that', () => {
    const { belief, revoked } = apply(owning('abc'), restored(['a']));
    expect(acknowledgementOf(belief)).toEqual({ born: 'b2', seq: 7 });
    expect(acknowledgementOf(endRevocation(belief, revoked!))).toEqual({ born: 'b2', seq: 8 });
  });

  it('does not acknowledge the new lineage while a callback of the old one runs', () => {
    const former = apply(owning('abc'), giving(15, ['a']));
    const { belief } = apply(former.belief, giving(9, ['a'], { born: 'b2', grace: true }));
    expect(acknowledgementOf(belief)!.seq).toBeLessThan(9);
  });

  it('acknowledges although a page is missing, and applies it when it comes back', () => {
    const { belief, revoked, missing } = apply(owning('a'), restored(['gone']));
    expect(missing).toEqual(['gone']);
    const ended = endRevocation(belief, revoked!);
    expect(acknowledgementOf(ended)).toEqual({ born: 'b2', seq: 8 });
    expect(apply(ended, restored(['gone']), new Map([['gone', aPage('a')]])).belief.isIncomplete).toBe(false);
  });
});

describe('a trap that the simulated protocol fell into', () => {
  it('a skipped root acknowledged too far: the revocation may be in any of those that the node did not see', () => {
    const { belief } = apply(owning('abc'), giving(10, ['a']));
    expect(acknowledgementOf(belief)).toEqual({ born: 'b1', seq: 7 });
  });

  it('a lapse: the next incarnation owns nothing, and remembers the highest token', () => {
    expect(noBelief('n#1', owning('abc').top)).toMatchObject({ inc: 'n#1', owned: new Map(), top: 100 });
    expect(acknowledgementOf(noBelief('n#1'))).toBeUndefined();
  });
});
