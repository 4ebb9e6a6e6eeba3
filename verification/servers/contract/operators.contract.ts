import { EditConflictError, type StoreDefinition } from 'nestjs-gatekeeper';
import { partsOf } from '../../../lib/gatekeeper/index.js';
import type { ClusterClock } from '../../../lib/core/clock/index.js';
import type { PlannedTimes } from '../../../lib/core/permits/missed/last-tick.js';
import { Receiver } from '../../../test/operate/alerts/receiver.js';
import { describeUnless } from '../../../test/support/unless.js';
import { openEnd } from '../../../test/support/nodes.js';
import { eventually } from '../../../test/contract/eventually.js';
import { type OperatorsNode, OperatorsNodes, entryOf, meetBeforeTaking, pausedWith } from './operators-nodes.js';

interface StoreForOperators {
  readonly store: StoreDefinition;
  /** Ends what the store connects to. */
  stop(): Promise<void>;
}

const ANN = { by: 'ann', reason: 'it moves' };
const BOB = { by: 'bob' };
const HOUR = 3_600_000;
const started = (nodes: readonly OperatorsNode[]) =>
  nodes.flatMap(({ events }) => events.filter((event) => event.type === 'run-started'));

/** The work of operators on two nodes: windows, undo, runs by hand, missed runs, the past of jobs, and alerts. */
export function describeOperatorsContract(
  name: string,
  prepare: () => Promise<StoreForOperators>,
  lack?: string,
): void {
  describeUnless(lack)(`Operators of two nodes on ${name}`, () => {
    const nodes = new OperatorsNodes();
    let under: StoreForOperators;
    beforeAll(async () => {
      under = await prepare();
      nodes.store = under.store;
    });
    afterAll(() => under?.stop());

    it('pause exactly what ran when a window starts on both, and its end resumes only that', async () => {
      const [one, other] = await nodes.two(['w-a', 'w-b', 'w-broken', 'w-edited']);
      await one.gatekeeper.definitions.pause('w-broken', BOB);
      const request = { window: 'w', names: 'w-.*', ...ANN };
      const starts = await Promise.all(
        [one, other].map(({ gatekeeper }) => gatekeeper.definitions.maintenance.start(request)),
      );
      expect(starts.flatMap(({ failed }) => failed)).toEqual([]);
      expect(await pausedWith('w-', other)).toEqual(['w-a', 'w-b', 'w-broken', 'w-edited']);
      const { maintenance } = other.gatekeeper.definitions;
      expect(await maintenance.get('w')).toMatchObject({ phase: 'on', semaphores: ['w-a', 'w-b', 'w-edited'] });
      await one.gatekeeper.definitions.edit('w-edited', { permits: 3 }, BOB);

      const { resumed, left } = await maintenance.end('w', ANN);
      expect(resumed).toEqual(['w-a', 'w-b']);
      expect(left).toMatchObject([{ name: 'w-edited', why: expect.stringContaining('changed since (edit by "bob"') }]);
      expect(await pausedWith('w-', one)).toEqual(['w-broken', 'w-edited']);
      expect((await one.gatekeeper.definitions.get('w-edited'))!.definition.permits).toBe(3);
      expect((await maintenance.list()).map(({ window }) => window)).not.toContain('w');
    });

    it('keep an edit that is made while a window ends', async () => {
      const [one, other] = await nodes.two(['e-a', 'e-edited']);
      await one.gatekeeper.definitions.maintenance.start({ window: 'e', names: 'e-.*', ...ANN });
      const [{ resumed, left }] = await Promise.all([
        one.gatekeeper.definitions.maintenance.end('e', ANN),
        other.gatekeeper.definitions.edit('e-edited', { permits: 3 }, BOB),
      ]);
      expect((await other.gatekeeper.definitions.get('e-edited'))!.definition.permits).toBe(3);
      // Whichever was first: the result names what is still paused.
      expect(await pausedWith('e-', other)).toEqual(left.map((each) => each.name));
      expect([...resumed, ...left.map((each) => each.name)]).toEqual(['e-a', 'e-edited']);
    });

    it('undo an edit, a change of many and a removal once, on either node', async () => {
      const [one, other] = await nodes.two(['u-a', 'u-b']);
      const { definitions } = one.gatekeeper;
      await definitions.edit('u-a', { permits: 5 }, ANN);
      const edited = (await entryOf('u-a', other)).id!;
      const both = await Promise.all([one, other].map(({ gatekeeper }) => gatekeeper.definitions.undo(edited, BOB)));
      const outcomes = both.flatMap(({ steps }) => steps.map(({ outcome }) => outcome));
      expect(outcomes.toSorted()).toEqual(['unchanged', 'undone']);
      expect(await definitions.get('u-a')).toMatchObject({ definition: { permits: 1 }, revision: 3 });

      const { bulk } = await definitions.pauseAll({ names: 'u-.*', ...ANN });
      await entryOf('u-b', other, (entry) => entry.bulk === bulk);
      await entryOf('u-a', other, (entry) => entry.bulk === bulk);
      await other.gatekeeper.definitions.undo(bulk, BOB);
      expect(await pausedWith('u-', one)).toEqual([]);

      await definitions.define({ name: 'u-by-hand', duration: '20s' }, ANN);
      await definitions.remove('u-by-hand', ANN);
      const removed = (await entryOf('u-by-hand', other, ({ action }) => action === 'remove')).id!;
      await other.gatekeeper.definitions.undo(removed, BOB);
      expect((await definitions.get('u-by-hand'))?.definition.duration).toBe(20_000);
    });

    it('are refused an undo after a later change', async () => {
      const [one, other] = await nodes.two(['c-a']);
      await one.gatekeeper.definitions.edit('c-a', { permits: 5 }, ANN);
      const { id } = await entryOf('c-a', other);
      await one.gatekeeper.definitions.edit('c-a', { permits: 6 }, BOB);
      await expect(other.gatekeeper.definitions.undo(id!)).rejects.toThrow(EditConflictError);
      expect((await one.gatekeeper.definitions.get('c-a'))!.definition.permits).toBe(6);
    });

    it('run a job by hand once, on a node that may, and find it in the audit log', async () => {
      const runs: string[] = [];
      const job = { semaphore: 'r-a', job: 'Jobs.export', work: () => void runs.push('run') };
      const [one, other] = await nodes.two(['r-a'], {}, [job]);
      const all = [one, other];
      await one.gatekeeper.definitions.edit('r-a', { permits: 2 }, ANN);
      meetBeforeTaking(all);
      const { runNow } = partsOf(one.gatekeeper);
      const isListed = async () => (await runNow.plan('r-a')).jobs[0]?.nodes.length === 2;
      await eventually('both nodes have the job', isListed);
      expect(await runNow.run('r-a', { ...ANN, timeout: '30s' })).toMatchObject({ state: 'ended', outcome: 'ok' });
      expect(await entryOf('r-a', other, ({ action }) => action === 'run-now')).toMatchObject({ ...ANN, job: job.job });

      await one.gatekeeper.definitions.edit('r-a', { acquirerPattern: 'other' }, ANN);
      const onOther = await runNow.run('r-a', { ...ANN, timeout: '30s' });
      expect(onOther).toMatchObject({ state: 'ended', node: { acquirer: 'other' } });
      await Promise.all(all.map(({ gatekeeper }) => gatekeeper.drain()));
      expect(runs).toHaveLength(2);
      expect(started(all)).toHaveLength(2);
    });

    it('find a missed run made up for once, although both nodes were about to', async () => {
      const [one, other] = await nodes.two(['m-a']);
      const all = [one, other];
      await one.gatekeeper.definitions.edit('m-a', { permits: 2 }, ANN);
      const { context } = partsOf(one.gatekeeper);
      const missed = Math.round(context.clusterClock.latest()) - HOUR / 2;
      const schedule = { expression: 'each hour', timeZone: 'UTC' };
      const record = { v: 1, nonce: 'x', seq: 1, at: missed - HOUR, ...schedule, last: missed - HOUR };
      await context.store.records.compareAndSet('last-tick:Jobs.missed@m-a', undefined, JSON.stringify(record));
      const bothCalled = openEnd();
      const ended: Promise<unknown>[] = [];
      let runs = 0;
      for (const { gatekeeper } of all) {
        const run = () => gatekeeper.run('m-a', () => void runs++, { job: 'Jobs.missed' });
        const call = () => {
          const ending = bothCalled.work().then(run);
          if (ended.push(ending) === 2) bothCalled.end();
          return ending;
        };
        const job = { semaphore: 'm-a', job: 'Jobs.missed', ...schedule, times: eachHour(missed) };
        partsOf(gatekeeper).missedRuns.serve([{ ...job, isScheduled: () => true, call }]);
      }
      await eventually('both nodes are about to run it', () => ended.length === 2);
      await Promise.all(ended);
      expect(runs).toBe(1);
      expect(started(all)).toEqual([expect.objectContaining({ job: 'Jobs.missed', missed })]);
    });

    it('see the past of a job that ran on both nodes, also after these have closed', async () => {
      const all = await nodes.two(['h-a']);
      const [one, other] = all;
      // Two nodes know the cluster's time with an error of some ms: runs within it have no order.
      const isOver = (moment: number) => all.every((node) => clockOf(node).earliest() > moment);
      const run = async (node: OperatorsNode, work: () => unknown) => {
        const moment = Math.max(...all.map((each) => clockOf(each).latest()));
        await eventually('the clocks of both say that the run before is over', () => isOver(moment));
        return node.gatekeeper.run('h-a', work, { job: 'Jobs.past', atLeastFor: 0 });
      };
      await run(one, () => undefined);
      const failing = run(one, () => Promise.reject(new Error('disk full')));
      await expect(failing).rejects.toThrow('disk full');
      await run(other, () => undefined);
      await Promise.all(all.map(({ gatekeeper }) => gatekeeper.close()));
      const third = await nodes.start('third', ['h-a']);
      const [job, ...others] = await third.gatekeeper.runs.jobs('h-a');
      expect(others).toEqual([]);
      expect(job).toMatchObject({
        job: 'Jobs.past',
        runs: [{ node: { acquirer: 'other' } }, { outcome: 'failed', message: 'disk full' }, { outcome: 'ok' }],
        failures: [{ message: 'disk full', stack: expect.stringContaining('disk full') }],
        day: { ok: 2, failed: 1, lost: 0, crashed: 0 },
      });
    });

    it('get an alert about a failed run, and about a trouble of both nodes one from one of them', async () => {
      await using receiver = await Receiver.start();
      const alerts = { webhooks: [receiver.webhook], pendingPeriod: 0 };
      const all = await nodes.two(['a-a'], { alerts });
      const run = (work: () => unknown) =>
        all[0].gatekeeper.run('a-a', work, { job: 'Jobs.alerts', atLeastFor: 0 }).catch(() => undefined);
      const about = (kind: string) =>
        receiver.alerts.filter((alert) => alert.kind === kind).map(({ status }) => status);
      await run(() => Promise.reject(new Error('disk full')));
      await run(() => undefined);
      await eventually('both messages about the run', () => about('run-failed').length === 2);
      expect(about('run-failed')).toEqual(['firing', 'resolved']);

      const looks = all.map(({ gatekeeper }) => {
        const { birth } = partsOf(gatekeeper).directory;
        const fault = { since: performance.now() - HOUR, sentence: 'unread' };
        let count = 0;
        Object.defineProperty(birth, 'fault', { get: () => (count++, fault), configurable: true });
        return () => count;
      });
      await eventually('the message about the trouble', () => about('degraded').length === 1);
      await eventually('both nodes have looked twice', () => looks.every((count) => count() >= 2));
      expect(about('degraded')).toEqual(['firing']);
      for (const { gatekeeper } of all) delete (partsOf(gatekeeper).directory.birth as { fault?: unknown }).fault;
      await eventually('the message about its end', () => about('degraded').length === 2);
      expect(about('degraded')).toEqual(['firing', 'resolved']);
    });
  });
}

function clockOf({ gatekeeper }: OperatorsNode): Pick<ClusterClock, 'earliest' | 'latest'> {
  return partsOf(gatekeeper).context.clusterClock;
}

/** Planned times, one of which is `at`. */
function eachHour(at: number): PlannedTimes {
  const since = (time: number) => Math.floor((time - at) / HOUR);
  return { next: (after) => at + (since(after) + 1) * HOUR, latest: (_from, until) => at + since(until) * HOUR };
}
