import { ShippedTypes } from './shipped-types.js';

describe('The types that an application sees', () => {
  const types = new ShippedTypes();

  it('have no @internal member', () => {
    expect(types.files.length).toBeGreaterThan(5);
    expect(types.files.filter(({ text }) => text.includes('@internal')).map(({ path }) => path)).toEqual([]);
  });

  it('have a docstring on every exported name and every public member', () => {
    expect(types.undocumented).toEqual([]);
  });

  it('have no two classes of one name', () => {
    const names = types.classes.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
