import { BUGS, bugNamed } from './bugs.js';
import { hunt } from './hunt.js';
import { KNOWN_SEEDS } from './known-seeds.js';

/** Bugs that the simulation finds quickly; `npm run test:bugs` runs all bugs, in every layer. That all of them fit is checked by `npm test`. */
const quick = BUGS.filter(({ layer }) => layer.kind !== 'specs' && layer.within <= 500);

describe('a bug that is put in on purpose', () => {
  it.each(quick.map(({ name }) => name))('%s is found by the simulation', async (name) => {
    const found = await hunt(bugNamed(name), KNOWN_SEEDS[name]);
    expect(found).toEqual({ isFound: true, how: expect.stringContaining('found after') });
  });
});
