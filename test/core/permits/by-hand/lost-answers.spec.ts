import { settled } from '../../../support/fake-time.js';
import { failWrite, faultsOfWrites, toldOutage } from '../../../support/faulty-writes.js';
import { useCluster } from '../../../support/nodes.js';
import { ANN, EXPORT, nodeWithJob, runNowOf } from './runners.js';

const WRITES = /^(semaphore|run-request):job$/;
const MINUTE = 60_000;
const DATA_LOST = 'the store lost data';

describe('a run by hand', () => {
  const cluster = useCluster();

  async function officeAndWorker() {
    const nodes = cluster();
    const counter = { runs: 0 };
    const worker = await nodeWithJob(nodes, { work: () => void counter.runs++, atLeastFor: 0 });
    const office = await nodes.node({ heartbeat: 1000 });
    await nodes.time.advance(1100);
    return { nodes, counter, worker, office, runNow: runNowOf(office) };
  }

  // It takes a permit, and the request; it notes the end, and releases the permit.
  it.each(faultsOfWrites(4))('is made at most once, when write %d of its node %s', async (write, fault) => {
    const { nodes, counter, worker, runNow } = await officeAndWorker();
    const faulty = failWrite(worker, write, fault, WRITES);
    const { id } = await runNow.run('job', { ...ANN, timeout: 0 });
    await nodes.time.advance(MINUTE / 2);
    expect(faulty.hasFailed).toBe(true);
    faulty.mend();
    await nodes.time.advance(2 * MINUTE);
    const { state } = await runNow.follow('job', id, { timeout: 0 });
    const possible = { ended: [1], 'not-taken': [0], unclear: [0, 1], asked: [], running: [] };
    expect(possible[state]).toContain(counter.runs);

    const before = counter.runs;
    const again = await runNow.run('job', { ...ANN, timeout: 0 });
    await nodes.time.advance(MINUTE / 2);
    expect(await runNow.follow('job', again.id, { timeout: 0 })).toMatchObject({ state: 'ended', outcome: 'ok' });
    expect(counter.runs).toBe(before + 1);
  });

  it.each(faultsOfWrites(1))(
    'is not made for a call that failed, and once for each other one, when write %d of the asking node %s',
    async (write, fault) => {
      const { nodes, counter, office, runNow } = await officeAndWorker();
      const faulty = failWrite(office, write, fault, WRITES);
      const asking = toldOutage(runNow.run('job', { ...ANN, timeout: 0 }));
      await nodes.time.advance(MINUTE / 2);
      const asked = await asking;
      expect(faulty.hasFailed).toBe(true);
      faulty.mend();
      await nodes.time.advance(MINUTE);
      expect(counter.runs).toBe(fault.startsWith('was applied') || asked ? 1 : 0);
      const { requests } = await runNow.plan('job');
      expect(requests.map(({ state }) => state)).toEqual(Array(counter.runs).fill('ended'));
    },
  );

  it('does not begin if the permit was lost while the request was taken', async () => {
    const nodes = cluster();
    let runs = 0;
    const runner = await nodeWithJob(nodes, { work: () => void runs++, atLeastFor: 0 });
    const asker = await nodes.node({ heartbeat: 1000 });
    runner.store.script = async (call, go, key) => {
      const answered = await go();
      // The process stands still, and sees the answer before its timers.
      if (call === 'compareAndSet' && key === 'run-request:job') {
        runner.store.script = undefined;
        nodes.time.freeze(11_500);
      }
      return answered;
    };
    const status = await runNowOf(asker).run('job', ANN);
    expect(runs).toBe(0);
    expect(status).toMatchObject({ state: 'ended', outcome: 'lost' });
  });

  it('says that the store lost data only while the grace lasts', async () => {
    const nodes = cluster();
    const node = await nodes.node({ heartbeat: 1000 });
    node.gatekeeper.registry.jobs = () => [{ job: EXPORT, semaphore: 'job', runNow: 'yes' }];
    await nodes.time.advance(1100);
    await nodes.overwrite(undefined);
    expect(await node.gatekeeper.run('job', () => 1)).toMatchObject({ reason: 'recovering' });
    const asking = runNowOf(node).run('job', ANN);
    await settled();
    expect((await runNowOf(node).plan('job')).requests[0]!.sentence).toContain(DATA_LOST);
    await nodes.time.advance(61_000);
    const { state, sentence } = await asking;
    expect([state, sentence]).toEqual(['not-taken', expect.not.stringContaining(DATA_LOST)]);
    expect(await nodes.record()).toHaveProperty('grace');
  });
});
