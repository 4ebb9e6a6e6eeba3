import fc from 'fast-check';
import { InvalidOptionsError, manualSlice } from 'nestjs-gatekeeper';

describe('slices of resources without a cluster', () => {
  it('are the same for every order of the resources', () => {
    expect(manualSlice(['e', 'c', 'a', 'd', 'b'], 0, 2)).toEqual(['a', 'c', 'e']);
    expect(manualSlice(['a', 'b', 'c', 'd', 'e'], 1, 2)).toEqual(['b', 'd']);
  });

  it('are together all resources, each once, and differ in size by one at most', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1 })),
        fc.integer({ min: 1, max: 8 }),
        (resources: string[], of: number) => {
          const slices = Array.from({ length: of }, (_, node) => manualSlice(resources, node, of));
          expect(slices.flat().toSorted()).toEqual(resources.toSorted());
          const sizes = slices.map(({ length }) => length);
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  it('overlap while nodes disagree about their number', () => {
    expect(manualSlice(['a', 'b', 'c'], 0, 2)).toContain('c');
    expect(manualSlice(['a', 'b', 'c'], 2, 3)).toContain('c');
  });

  it.each([
    { resources: ['a'], node: 2, of: 2, fault: 'node: 2 is not the number of one of 2 nodes: give 0 to 1' },
    { resources: ['a'], node: -1, of: 2, fault: 'node: -1 ' },
    { resources: ['a'], node: 0.5, of: 2, fault: 'node: 0.5 ' },
    { resources: ['a'], node: 0, of: 0, fault: 'of: 0 is not a whole number of nodes, 1 or more' },
    { resources: ['a', 'b', 'a'], node: 0, of: 1, fault: 'resources[2]: "a" is given twice' },
    { resources: [''], node: 0, of: 1, fault: /resources\[0\]: .*empty/ },
    { resources: [7], node: 0, of: 1, fault: 'resources[0]: 7 ' },
    { resources: ['x'.repeat(1024 * 1024)], node: 0, of: 1, fault: '(1048578 characters)' },
    { resources: 'abc', node: 0, of: 1, fault: 'resources: "abc" is not a list of ids' },
  ])('are refused, and the error names the place: $fault', ({ resources, node, of, fault }) => {
    const slice = () => manualSlice(resources as string[], node, of);
    expect(slice).toThrow(InvalidOptionsError);
    expect(slice).toThrow(fault);
  });
});
