import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import {
  Gatekeeper,
  type GatekeeperEvent,
  type GatekeeperOptions,
  type RunPermit,
  hazelcast,
  parseGatekeeperOptions,
} from 'nestjs-gatekeeper';
import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { partsOf } from '../../../lib/gatekeeper/index.js';
import { eventually } from '../../../test/contract/eventually.js';
import { figure } from './figure.js';
import { describeOnHazelcast } from '../../needs/members.js';

/** A busy machine is no outage. */
const PATIENT = { callTimeout: '10s', sweepInterval: '1s', heartbeat: '1s' };
const SILENT = { log() {}, warn() {}, error() {}, debug() {} };
const DEFINITIONS = Array.from({ length: 200 }, (_, index) => ({ name: `job-${index}`, duration: '30s' }));
const REVOCATIONS = 20;
/** ms that this process may be kept from running in a round that counts. */
const STALL = 100;

/** How long this process, which is both nodes, was kept from running. */
function watchStalls() {
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  return {
    reset: () => delays.reset(),
    get longest() {
      return delays.max / 1e6;
    },
    [Symbol.dispose]: () => void delays.disable(),
  };
}

describeOnHazelcast('what an operator does through one node, on real members', () => {
  let cluster: HazelcastCluster;
  let office: Gatekeeper;
  let worker: Gatekeeper;
  const heard: GatekeeperEvent[] = [];

  beforeAll(async () => {
    cluster = await startHazelcast({ clusterName: 'operators' });
    [office, worker] = await Promise.all([open('office'), open('worker')]);
    worker.events$.subscribe((event) => heard.push(event));
    const areThere = async () => (await worker.state()).semaphores.length === DEFINITIONS.length;
    await eventually('all definitions are there', areThere, 60_000);
    // A change is news only to a node that knew what was there before.
    const isKnown = ({ name }: { name: string }) => partsOf(worker).directory.own.find(name)?.known;
    await eventually('the worker has seen them all', () => DEFINITIONS.every(isKnown), 60_000);
  });

  afterAll(async () => {
    await Promise.all([office?.close(), worker?.close()]);
    await cluster?.stop();
  });

  async function open(acquirer: string, options: Partial<GatekeeperOptions> = {}): Promise<Gatekeeper> {
    const store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses });
    const settings = parseGatekeeperOptions({
      store,
      acquirer,
      // Nodes of one application: a change is news to a node that defines the semaphore.
      definitions: DEFINITIONS,
      definitionsDelay: 0,
      ...PATIENT,
      ...options,
    });
    const gatekeeper = new Gatekeeper(settings, SILENT);
    await gatekeeper.start();
    return gatekeeper;
  }

  it('ends a permit within a second of its revocation: the signal aborts', async () => {
    const took: number[] = [];
    using stalls = watchStalls();
    while (took.length < REVOCATIONS) {
      const permit = (await worker.tryAcquire('job-0'))!;
      const aborted = once(permit.signal, 'abort');
      stalls.reset();
      const began = performance.now();
      expect(await office.definitions.revoke('job-0', permit.id, { by: 'ann' })).toBe(true);
      await aborted;
      // A process that got no CPU time can't learn anything: such a round proves nothing.
      if (stalls.longest < STALL) took.push(performance.now() - began);
      expect(permit.signal.reason).toMatchObject({ code: 'permit-lost', reason: 'revoked' });
    }
    figure(`slowest of ${REVOCATIONS} revocations`, Math.max(...took));
    expect(Math.max(...took)).toBeLessThan(1000);
  });

  it('is in force for the very next decision of every other node', async () => {
    for (let count = 0; count < 20; count++) {
      await office.definitions.pause('job-1', { by: 'ann', reason: 'flood' });
      expect(await worker.run('job-1', () => 1, { atLeastFor: 0 })).toEqual({ executed: false, reason: 'paused' });
      await office.definitions.resume('job-1');
      expect(await worker.run('job-1', () => 1, { atLeastFor: 0 })).toEqual({ executed: true, value: 1 });
    }
  });

  it('lets a run that goes on finish though the job is paused', async () => {
    let end!: () => void;
    let held!: RunPermit;
    const going = new Promise<void>((resolve) => (end = resolve));
    const running = worker.run('job-2', (permit) => ((held = permit), going));
    await eventually('it runs', () => held !== undefined);
    await office.definitions.pause('job-2');
    expect(await worker.refresh(held as never)).toBe(true);
    expect(held.isHeld).toBe(true);
    end();
    expect(await running).toEqual({ executed: true, value: undefined });
    expect(await worker.run('job-2', () => 1)).toEqual({ executed: false, reason: 'paused' });
  });

  it('moves many jobs at once, and every node hears of it', async () => {
    const request = { names: 'job-1..', to: { groupPattern: 'elsewhere|default', acquirerPattern: 'worker' } };
    const began = performance.now();
    const { steps } = await office.definitions.migrate(request, { by: 'ann' });
    figure(`migration of ${steps.length} definitions`, performance.now() - began);
    expect(steps.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 100 }, () => 'migrated'));
    expect(steps[0]!.candidates).toMatchObject([{ acquirer: 'worker' }]);
    expect(await office.run('job-100', () => 1)).toEqual({ executed: false, reason: 'acquirer' });
    expect(await worker.run('job-100', () => 1)).toMatchObject({ executed: true });
    await eventually('the worker heard of all', () => {
      const changed = heard.filter((event) => event.type === 'changed' && event.change?.kind === 'migrate');
      return changed.length === 100;
    });
  });

  it('stands in the audit log, and runs in the history, for every node to read', async () => {
    await worker.run('job-3', () => 1, { job: 'Jobs.work' });
    await office.definitions.edit('job-3', { permits: 2 }, { by: 'bob', reason: 'rush' });
    await eventually('the entry is there', async () => {
      const entries = await worker.audit.read(100);
      return entries.some(({ semaphore, by, reason }) => semaphore === 'job-3' && by === 'bob' && reason === 'rush');
    });
    await eventually('the run is there', async () => {
      const { semaphores, nodes } = await office.overview();
      const job = semaphores.find(({ name }) => name === 'job-3');
      return nodes.length === 2 && job?.lastRun?.job === 'Jobs.work' && job.lastRun.node.acquirer === 'worker';
    });
  });
});
