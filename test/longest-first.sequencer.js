import Sequencer from '@jest/test-sequencer';

/**
 * Files that take longest, the longest first. On a machine that never ran the tests Jest knows no times and goes by the
 * size of a file: a long one that begins last leaves the other workers without work. Most of these wait for processes, so
 * several of them at once do not fill two cores.
 */
const LONGEST = [
  'test/faults/faults.spec.ts',
  'test/bugs/bugs.spec.ts',
  'test/cli/end-to-end.spec.ts',
  'test/sample/walk-through.spec.ts',
  'test/simulation/sim.spec.ts',
  'test/console/browser/tasks.spec.ts',
  'test/contract/redis-failover.spec.ts',
  'test/sample/sample.spec.ts',
  'test/contract/hazelcast-operators.spec.ts',
  'test/console/browser/runs.spec.ts',
  'test/contract/postgres-failover.spec.ts',
  'test/contract/operators.spec.ts',
  'test/contract/hazelcast-cp.spec.ts',
  'test/bench/locks-beside-ours.spec.ts',
  'test/sample/delivery.spec.ts',
  'test/cli/run-now.spec.ts',
  'test/console/browser/accessible.spec.ts',
  'test/examples/http-permits.spec.ts',
  'test/console/browser/scale.spec.ts',
  'test/contract/nodes.spec.ts',
  'test/cluster/wall-clock.spec.ts',
  'test/console/browser/operator-tasks.spec.ts',
  'test/console/browser/faults.spec.ts',
  'test/contract/redis-store.spec.ts',
  'test/cluster/keeping-and-losing.spec.ts',
  'test/cluster/one-run-per-tick.spec.ts',
  'test/examples/http-workers.spec.ts',
  'test/console/fuzz.spec.ts',
  'test/console/browser/allocation.spec.ts',
  'test/cluster/definitions-outlive-the-cluster.spec.ts',
  'test/console/browser/stream.spec.ts',
  'test/tasks/serial.spec.ts',
  'test/docs/operator-tasks.spec.ts',
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
