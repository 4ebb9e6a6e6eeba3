import { BUGS, bugNamed } from './bugs.js';
import { hunt } from './hunt.js';
import { KNOWN_SEEDS } from './known-seeds.js';
import { seededSources } from './seeded-sources.js';

/** Bugs that the simulation finds quickly; `npm run test:bugs` runs all bugs, in every layer. */
const quick = BUGS.filter(({ layer }) => layer.kind !== 'specs' && layer.within <= 500);

describe('a bug that is put in on purpose', () => {
  it.each(quick.map(({ name }) => name))('%s is found by the simulation', async (name) => {
    const found = await hunt(bugNamed(name), KNOWN_SEEDS[name]);
    expect(found).toEqual({ isFound: true, how: expect.stringContaining('found after') });
  });

  it.each(BUGS)('$name still fits the sources', (bug) => {
    expect(Object.keys(seededSources(bug))).toHaveLength(new Set(bug.patches.map(({ file }) => file)).size);
  });

  it('is refused when it no longer fits the sources', () => {
    const patches = [{ file: 'lib/decision/token.ts', find: 'return 42;', replace: '' }];
    expect(() => seededSources({ ...BUGS[0]!, patches })).toThrow('fits 0 places of lib/decision/token.ts, not one');
  });

  it('is listed by name when an unknown name is asked for', () => {
    expect(() => bugNamed('typo')).toThrow(`there is no bug named "typo"; there are: ${BUGS[0]!.name}`);
    expect(new Set(BUGS.map(({ name }) => name)).size).toBe(BUGS.length);
  });
});
