import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HistoryArchive, fileHistoryArchive } from 'nestjs-gatekeeper';
import { START } from '../../../support/fake-time.js';
import { JOB, type TestCluster, openEnd, useCluster } from '../../../support/nodes.js';
import { ScriptedRunArchive } from '../../../support/scripted-run-archive.js';
import { Sleeper } from '../../../support/sleeper.js';
import { awaitedArchive } from './awaited-archive.js';

const MINUTE = 60_000;
const listed = { heartbeat: '10s', definitions: [JOB] } as const;
const opening = (archive: HistoryArchive) => ({ kind: 'scripted', open: () => archive });

/** A node that begins a run, and dies in the middle of it. @returns its instance, and the end of the test for it */
async function dies(nodes: TestCluster, archive: HistoryArchive) {
  const clock = new Sleeper(nodes.time);
  const { gatekeeper } = await nodes.node({ ...listed, history: { archive: opening(archive) } }, clock);
  const { work, end, started } = openEnd();
  const running = gatekeeper.run('job', work, { job: 'Jobs.export' });
  await started;
  await nodes.time.advance(3000);
  clock.freeze();
  const wake = async () => {
    clock.wake();
    end();
    await running.catch(() => undefined);
  };
  return { instance: gatekeeper.node.instance, wake };
}

describe('a run whose node died', () => {
  const cluster = useCluster();

  it('is archived once, by the living node that started first', async () => {
    const nodes = cluster();
    const [own, first, second] = [new ScriptedRunArchive(), new ScriptedRunArchive(), new ScriptedRunArchive()];
    const { instance, wake } = await dies(nodes, own);
    for (const archive of [first, second]) {
      await nodes.node({ ...listed, history: { archive: opening(archive) } });
      await nodes.time.advance(1000);
    }
    await nodes.time.advance(25 * MINUTE);
    expect(first.runs).toMatchObject([
      {
        id: `${instance}-crashed-${START}-1-job`,
        kind: 'run',
        job: 'Jobs.export',
        outcome: 'crashed',
        at: START,
        took: 0,
      },
    ]);
    expect([own.runs, second.runs]).toEqual([[], []]);
    await wake();
  });

  it('is archived by the next node if the one that started first dies, too', async () => {
    const nodes = cluster();
    const [first, second] = [new ScriptedRunArchive(), new ScriptedRunArchive()];
    await nodes.node({ ...listed, history: { archive: opening(second) } });
    await nodes.time.advance(30 * MINUTE);
    const { instance, wake } = await dies(nodes, first);
    await nodes.time.advance(30 * MINUTE);
    expect(second.runs.map(({ id }) => id)).toEqual([expect.stringContaining(`${instance}-crashed-`)]);
    await wake();
  });

  it('is a line in a folder, once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'runs-'));
    try {
      const nodes = cluster();
      const { wake } = await dies(nodes, new ScriptedRunArchive());
      const { archive, hasWritten } = awaitedArchive(fileHistoryArchive({ folder }));
      await nodes.node({ ...listed, history: { archive } });
      await hasWritten(nodes, 1, 1000);
      await nodes.time.advance(30 * MINUTE);
      const lines = (await readFile(join(folder, (await readdir(folder))[0]!), 'utf8')).trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ outcome: 'crashed', job: 'Jobs.export' }]);
      await wake();
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
