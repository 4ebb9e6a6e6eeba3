import { describe, expect, it } from '@jest/globals';
import { ShippedTypes } from './shipped-types.js';

/** Their inner members are still public; take these out with the last of them. */
const UNFINISHED = {
  files: ['permits/permit.d.ts', 'permits/semaphore.d.ts'],
  members: ['Permit.lease', 'Semaphore.recordClient'],
};

describe('The types that an application sees', () => {
  const types = new ShippedTypes();

  it('have no @internal member', () => {
    expect(types.files.length).toBeGreaterThan(50);
    expect(
      types.files
        .filter(({ text }) => text.includes('@internal'))
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual(UNFINISHED.files);
  });

  it('have a docstring on every exported name and every public member', () => {
    expect(types.undocumented.toSorted()).toEqual(UNFINISHED.members);
  });

  it('have no two classes of one name', () => {
    const names = types.classes.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
