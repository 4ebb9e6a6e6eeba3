import Sequencer from '@jest/test-sequencer';

/**
 * Files that take longest, the longest first. On a machine that never ran the tests Jest knows no times and goes by the
 * size of a file: a long one that begins last leaves the other worker without work.
 */
const LONGEST = [
  'test/faults/faults.spec.ts',
  'test/cli/end-to-end.spec.ts',
  'test/simulation/sim.spec.ts',
  'test/sample/sample.spec.ts',
  'test/contract/hazelcast-store.spec.ts',
  'test/contract/hazelcast-cp.spec.ts',
  'test/contract/hazelcast-connection.spec.ts',
];

export default class LongestFirst extends Sequencer {
  sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- Jest's own order, not an array's
    return super.sort(tests).toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ path }) {
  const place = LONGEST.findIndex((name) => path.endsWith(name));
  return place < 0 ? LONGEST.length : place;
}
