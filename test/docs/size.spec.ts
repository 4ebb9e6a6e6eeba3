import { readFileSync } from 'node:fs';
import { ROOT } from './snippets.js';

type Figures = Record<'files' | 'packed' | 'unpacked' | 'dependencies', number>;
type Packages = Record<string, { readonly dependencies?: Record<string, string> }>;

interface Size {
  readonly BOUNDS: Figures;
  dependenciesOf(packages: Packages, name: string): string[];
  growth(figures: Figures, bounds?: Figures): string[];
}

let size: Size;
beforeAll(async () => void (size = (await import(`${ROOT}tools/pack-check/size.mjs`)) as Size));

describe('The size of the package', () => {
  it('names what has grown over its bound', () => {
    const bounds = { files: 9, packed: 2, unpacked: 5, dependencies: 1 };
    expect(size.growth({ files: 9, packed: 2, unpacked: 6, dependencies: 1 }, bounds)).toEqual([
      expect.stringMatching(/^unpacked: 6 is more than 5/),
    ]);
  });
});

describe('The packages that a package brings', () => {
  it('are its dependencies and theirs, each once, from the folder that Node would take', () => {
    const packages: Packages = {
      'node_modules/own': { dependencies: { one: '1', two: '1' } },
      'node_modules/one': { dependencies: { two: '2' } },
      'node_modules/one/node_modules/two': {},
      'node_modules/two': { dependencies: { one: '1' } },
      'node_modules/other': {},
    };
    expect(size.dependenciesOf(packages, 'own')).toEqual([
      'node_modules/one',
      'node_modules/one/node_modules/two',
      'node_modules/two',
    ]);
  });

  it('are as many in the lock of this project as the bound allows, or fewer', () => {
    const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')) as { packages: Packages };
    const own = { ...packages, 'node_modules/own': packages['']! };
    expect(size.dependenciesOf(own, 'own').length).toBeLessThanOrEqual(size.BOUNDS.dependencies);
    expect(size.dependenciesOf(own, 'own')).toContain('node_modules/hazelcast-client');
  });
});
