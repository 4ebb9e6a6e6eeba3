import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ArchivedRun,
  type HistoryArchive,
  type HistoryArchiveDefinition,
  fileHistoryArchive,
} from 'nestjs-gatekeeper';
import { partsOf } from '../../../../lib/gatekeeper/parts.js';
import { START, settled } from '../../../support/fake-time.js';
import { type TestCluster, type TestNode, openEnd, outcomeOf, useCluster } from '../../../support/nodes.js';
import { ScriptedRunArchive } from '../../../support/scripted-run-archive.js';
import { awaitedArchive, until } from './awaited-archive.js';

const failing = () => {
  throw new Error('disk full');
};
const hanging = () => new Promise<void>(() => undefined);
const opening = (archive: HistoryArchive): HistoryArchiveDefinition => ({ kind: 'scripted', open: () => archive });
const archiving = (nodes: TestCluster, archive: HistoryArchive, stacks = true) =>
  nodes.node({ history: { archive: opening(archive), stacks } });

async function run({ gatekeeper }: TestNode, count = 1): Promise<void> {
  for (let each = 0; each < count; each++) {
    await gatekeeper.run('job', () => undefined, { job: 'Jobs.export', atLeastFor: 0 });
  }
}

async function fail({ gatekeeper }: TestNode): Promise<void> {
  const work = async () => {
    throw new Error('no such report');
  };
  await expect(gatekeeper.run('job', work, { job: 'Jobs.export', atLeastFor: 0 })).rejects.toThrow('no such report');
}

const faultOf = ({ gatekeeper }: TestNode) =>
  gatekeeper.health().faults.find(({ code }) => code === 'run-archive-failing');

describe('the archive of runs', () => {
  const cluster = useCluster();

  it('gets the runs that this node made when they end, together, with their error, and no others', async () => {
    const nodes = cluster();
    const archive = new ScriptedRunArchive();
    const [one, other] = [await archiving(nodes, archive), await nodes.node({ history: true })];
    const { work, end, started } = openEnd();
    const running = one.gatekeeper.run('job', work, { job: 'Jobs.export', atLeastFor: 0 });
    await started;
    await nodes.time.advance(3000);
    expect(archive.runs).toEqual([]);
    end();
    await running;
    await fail(one);
    await run(other);
    await nodes.time.advance(1000);
    expect(archive.batches).toEqual([2]);
    const { node } = one.gatekeeper;
    const common = { kind: 'run', semaphore: 'job', job: 'Jobs.export', node, token: expect.any(Number) };
    const error = { message: 'no such report', stack: expect.stringMatching(/^Error: no such report\n/) };
    expect(archive.runs).toMatchObject([
      { ...common, at: START, took: 3000, outcome: 'ok' },
      { ...common, at: START + 3000, outcome: 'failed', ...error },
    ]);
    expect(new Set(archive.runs.map(({ id }) => id)).size).toBe(2);
  });

  it('gets no term of another node, which this node dropped: the history has it', async () => {
    const nodes = cluster();
    const archive = new ScriptedRunArchive();
    const { gatekeeper } = await archiving(nodes, archive);
    const permit = { id: 'x', group: 'default', acquirer: 'app2', instance: 'beef', holder: 'beef', token: 7, slot: 0 };
    const times = { grantedAt: START, expiresAt: START + 10_000, duration: 10_000 };
    const { events } = partsOf(gatekeeper).context;
    events.next({ type: 'expired', semaphore: 'leader:default', permits: [{ ...permit, ...times }] });
    await nodes.time.advance(1000);
    expect(await gatekeeper.history(10)).toMatchObject([{ job: 'leadership', outcome: 'lost', token: 7 }]);
    expect(archive.runs).toEqual([]);
  });

  it('gets no stacks where they are not kept', async () => {
    const nodes = cluster();
    const archive = new ScriptedRunArchive();
    await fail(await archiving(nodes, archive, false));
    await nodes.time.advance(1000);
    expect(archive.runs).toMatchObject([{ outcome: 'failed' }]);
    expect(archive.runs[0]).not.toHaveProperty('stack');
  });

  it('never delays a run or makes it fail, whether it hangs or throws at once', async () => {
    for (const script of [hanging, failing]) {
      const nodes = cluster();
      const archive = new ScriptedRunArchive();
      archive.script = script;
      const node = await archiving(nodes, archive);
      await run(node);
      await nodes.time.advance(1000);
      const next = node.gatekeeper.run('job', () => 'done', { atLeastFor: 0 });
      expect(await outcomeOf(next)).toEqual({ value: { executed: true, value: 'done' } });
    }
  });

  it('is a fault of health since its first failure, said once in the log, until it has all runs', async () => {
    const nodes = cluster();
    const archive = new ScriptedRunArchive();
    archive.script = (call) => (call === 'append' ? failing() : undefined);
    const node = await archiving(nodes, archive);
    await run(node);
    await nodes.time.advance(1000);
    const sentence = 'archive of runs (scripted): append runs: disk full';
    const fault = { code: 'run-archive-failing', sentence, since: START + 1000, stopsGrants: false };
    expect(faultOf(node)).toEqual(fault);
    await nodes.time.advance(35_000);
    expect(faultOf(node)).toEqual(fault);
    expect(node.gatekeeper.health()).toMatchObject({ status: 'degraded', grants: true });
    expect(node.of('problem')).toHaveLength(1);
    expect(node.log.filter((line) => line.includes('disk full'))).toHaveLength(1);
    archive.script = undefined;
    await run(node);
    await nodes.time.advance(10_000);
    expect(faultOf(node)).toBeUndefined();
    expect(archive.runs).toHaveLength(2);
  });

  it('is given up after 10 s without an answer, and not asked again before that call has ended', async () => {
    const nodes = cluster();
    const archive = new ScriptedRunArchive();
    let calls = 0;
    let answer!: () => void;
    archive.script = (call) => {
      if (call !== 'append') return undefined;
      calls++;
      return new Promise<void>((resolve) => (answer = resolve));
    };
    const node = await archiving(nodes, archive);
    await run(node);
    await nodes.time.advance(11_000);
    expect(faultOf(node)?.sentence).toContain('no answer within 10000 ms');
    await nodes.time.advance(30_000);
    expect(calls).toBe(1);
    archive.script = undefined;
    answer();
    await nodes.time.advance(10_000);
    expect(faultOf(node)).toBeUndefined();
    // The answer was only late: the batch is there twice, with the same id.
    expect(archive.runs.map(({ id }) => id)).toEqual(Array(2).fill(`${node.gatekeeper.node.instance}-0`));
  });

  it('drops the oldest runs while it fails for too long, and says how many in health and in the log', async () => {
    const nodes = cluster();
    const archive = new ScriptedRunArchive();
    archive.script = (call) => (call === 'append' ? hanging() : undefined);
    const node = await archiving(nodes, archive);
    await run(node);
    await nodes.time.advance(1000);
    await run(node, 10_000);
    expect(faultOf(node)).toBeUndefined();
    await run(node, 2);
    expect(faultOf(node)).toMatchObject({
      sentence: expect.stringMatching(/^2 runs were dropped while/),
      since: START + 1000,
    });
    await nodes.time.advance(10_000);
    expect(faultOf(node)).toMatchObject({
      sentence: expect.stringMatching(/10000 ms; 3 runs/),
      since: START + 1000,
    });
  });

  it('tells how many runs were dropped when it works again', async () => {
    const nodes = cluster();
    const archive = new ScriptedRunArchive();
    archive.script = (call) => (call === 'append' ? failing() : undefined);
    const node = await archiving(nodes, archive);
    await run(node, 10_007);
    await nodes.time.advance(1000);
    archive.script = undefined;
    await nodes.time.advance(10_000);
    expect(node.of('problem').map(({ error }) => (error as Error).message)).toEqual([
      'disk full',
      expect.stringMatching(/^7 runs/),
    ]);
    expect(archive.runs).toHaveLength(10_000);
    expect(archive.runs[0]!.id).toMatch(/-7$/);
    expect(Math.max(...archive.batches)).toBe(500);
    expect(faultOf(node)).toBeUndefined();
  });

  it('gets the remaining runs before it is closed, once', async () => {
    const nodes = cluster();
    const archive = new ScriptedRunArchive();
    const node = await archiving(nodes, archive);
    const { work, end, started } = openEnd();
    void node.gatekeeper.run('job', work, { job: 'Jobs.export' });
    await started;
    const closing = node.gatekeeper.close();
    await settled();
    end();
    await closing;
    expect([archive.runs.length, archive.closed]).toEqual([1, 1]);
    await nodes.time.advance(3_600_000);
    expect(archive.removals).toEqual([]);
  });

  it.each([
    ['10s', 5000],
    ['2s', 2000],
  ])(
    'keeps a shutdown as long as runs may, here %s, and 5 s at most: %d ms; it says how many runs it lacks',
    async (shutdownGrace, most) => {
      const nodes = cluster();
      const archive = new ScriptedRunArchive();
      archive.script = hanging;
      const node = await nodes.node({ history: { archive: opening(archive) }, shutdownGrace });
      await run(node, 3);
      const closing = node.gatekeeper.close();
      await nodes.time.advance(most - 1);
      expect(await outcomeOf(closing)).toBe('pending');
      await nodes.time.advance(1);
      expect(await outcomeOf(closing)).toEqual({ value: undefined });
      expect(node.of('problem')).toMatchObject([
        { action: 'archive of runs (scripted): append 3 runs before the end' },
        { action: 'archive of runs (scripted): close' },
      ]);
    },
  );

  it('is asked to remove what is old every ten minutes, and sooner if it left something or failed', async () => {
    const nodes = cluster();
    const archive = new ScriptedRunArchive();
    const node = await archiving(nodes, archive);
    const asked = async (ms: number) => {
      const before = archive.removals.length;
      await nodes.time.advance(ms);
      return archive.removals.length - before;
    };
    expect(await asked(60_000)).toBe(1);
    expect(archive.removals[0]).toBeCloseTo(START + 60_000, -3);
    expect(await asked(530_000)).toBe(0);
    archive.hasMore = true;
    expect(await asked(140_000)).toBeGreaterThan(1);
    archive.script = failing;
    expect(await asked(2000)).toBe(1);
    expect(await asked(50_000)).toBe(0);
    expect(faultOf(node)?.sentence).toContain('remove old runs: disk full');
    archive.script = undefined;
    archive.hasMore = false;
    expect(await asked(20_000)).toBe(1);
    expect(faultOf(node)).toBeUndefined();
  });

  it('needs neither removal nor promises', async () => {
    const nodes = cluster();
    const runs: ArchivedRun[] = [];
    const append = (entries: readonly ArchivedRun[]) => void runs.push(...entries);
    const node = await archiving(nodes, { append, close: () => undefined } as unknown as HistoryArchive);
    await run(node);
    await nodes.time.advance(700_000);
    expect(runs).toHaveLength(1);
    expect(node.of('problem')).toEqual([]);
  });

  it('in a folder: fails while the folder can not be made, and then has all runs, by the day of their end', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'runs-'));
    try {
      const folder = join(parent, 'runs');
      await writeFile(folder, 'a file in its place');
      const nodes = cluster();
      const { archive, hasWritten } = awaitedArchive(fileHistoryArchive({ folder }));
      const node = await nodes.node({ history: { archive } });
      await run(node);
      await nodes.time.advance(1000);
      await until(nodes, () => faultOf(node) !== undefined);
      expect(faultOf(node)?.sentence).toMatch(/^archive of runs \(file\): .*EEXIST/);
      await rm(folder);
      await hasWritten(nodes, 1, 1000);
      await nodes.time.advance(86_400_000);
      await run(node);
      await hasWritten(nodes, 2, 1000);
      const { instance } = node.gatekeeper.node;
      expect((await readdir(folder)).toSorted()).toEqual(
        ['2023-11-14', '2023-11-15'].map((day) => `runs-${day}-${instance}.jsonl`),
      );
      await node.gatekeeper.close();
      const text = await readFile(join(folder, `runs-2023-11-15-${instance}.jsonl`), 'utf8');
      expect(JSON.parse(text)).toMatchObject({ job: 'Jobs.export', at: START + 86_411_000 });
    } finally {
      await rm(parent, { recursive: true });
    }
  });
});
