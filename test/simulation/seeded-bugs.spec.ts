import { BUGS, bugNamed } from '../../verification/proof/bugs/bugs.js';
import { seededSources } from '../../verification/proof/bugs/seeded-sources.js';

/** The stage `proof` and `npm run test:bugs` show that they are found. */
describe('a bug that is put in on purpose', () => {
  it.each(BUGS)('$name still fits the sources', (bug) => {
    expect(Object.keys(seededSources(bug))).toHaveLength(new Set(bug.patches.map(({ file }) => file)).size);
  });

  it('is refused when it no longer fits the sources', () => {
    const patches = [{ file: 'lib/core/decision/token.ts', find: 'return 42;', replace: '' }];
    expect(() => seededSources({ ...BUGS[0]!, patches })).toThrow(
      'fits 0 places of lib/core/decision/token.ts, not one',
    );
  });

  it('is listed by name when an unknown name is asked for', () => {
    expect(() => bugNamed('typo')).toThrow(`there is no bug named "typo"; there are: ${BUGS[0]!.name}`);
    expect(new Set(BUGS.map(({ name }) => name)).size).toBe(BUGS.length);
  });
});
