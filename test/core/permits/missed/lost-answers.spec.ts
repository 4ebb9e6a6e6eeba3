import { partsOf } from '../../../../lib/gatekeeper/index.js';
import { START } from '../../../support/fake-time.js';
import { failWrite, faultsOfWrites } from '../../../support/faulty-writes.js';
import { type TestCluster, useCluster } from '../../../support/nodes.js';
import { every } from './planned.js';

const HOUR = 3_600_000;
const JOB = 'Jobs.export';
const KEY = `last-tick:${JOB}@job`;
const SCHEDULE = { expression: 'every hour', timeZone: 'UTC' };
const MISSED = every(HOUR).latest(0, START);
const WRITES = /^(semaphore:job|last-tick:.*)$/;

async function lastOf({ raw }: TestCluster): Promise<number> {
  return JSON.parse((await raw.records.read(KEY))!).last;
}

describe('a missed run', () => {
  const cluster = useCluster();

  // It takes a permit, settles the planned time, and releases the permit.
  it.each(faultsOfWrites(3))(
    'is made up for at most once by two nodes, when write %d of one %s',
    async (write, fault) => {
      const nodes = cluster();
      const last = MISSED - HOUR;
      await nodes.raw.records.compareAndSet(
        KEY,
        undefined,
        JSON.stringify({ v: 1, nonce: 'x', seq: 1, at: last, ...SCHEDULE, last }),
      );
      let runs = 0;
      const [node, other] = [await nodes.node(), await nodes.node()];
      const faulty = failWrite(node, write, fault, WRITES);
      const serve = ({ gatekeeper }: typeof node) => {
        const call = () => gatekeeper.run('job', () => void runs++, { job: JOB, atLeastFor: 0 });
        const job = { semaphore: 'job', job: JOB, ...SCHEDULE, times: every(HOUR), isScheduled: () => true, call };
        partsOf(gatekeeper).missedRuns.serve([job]);
      };
      serve(node);
      await nodes.time.advance(1500);
      serve(other);
      await nodes.time.advance(60_000);
      expect(faulty.hasFailed).toBe(true);
      faulty.mend();
      await nodes.time.advance(5 * 60_000);
      expect(await lastOf(nodes)).toBe(MISSED);
      // A node that does not know whether it has settled the planned time does not run it, and no other one does.
      const isUnknown = write === 2 && fault.endsWith('all calls after it failed');
      expect(runs).toBe(isUnknown ? 0 : 1);
    },
  );
});
