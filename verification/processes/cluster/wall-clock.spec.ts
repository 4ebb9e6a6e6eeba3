import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { sharedNow } from '../../apps/say.js';
import { eventually } from '../../../test/contract/eventually.js';
import { figure } from './figure.js';
import type { NodeSaid } from './node-process.js';
import { Nodes } from './nodes.js';
import { TICK } from './ticks.js';
import { describeWithWrongClocks } from './with-wrong-clocks.js';

const CLOCK_TOLERANCE = 500;
const SECOND = 1000;

describeWithWrongClocks('nodes whose wall clocks are wrong by ten minutes', () => {
  let cluster: HazelcastCluster;
  let nodes: Nodes;
  let folder: string;

  beforeAll(async () => {
    cluster = await startHazelcast({ clusterName: 'wall-clock' });
    nodes = new Nodes(cluster);
    folder = await mkdtemp(join(tmpdir(), 'gatekeeper-'));
  });

  afterAll(async () => {
    await nodes?.[Symbol.asyncDispose]();
    await cluster?.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  /** Each run from its begin to its end; one without an end was killed, and gets none. */
  function runs(semaphore: string) {
    return nodes.all('begun', { semaphore }).map((begun) => {
      const ended = nodes.node(begun.node).all('ended', { semaphore }, begun.at)[0];
      return { ...begun, endedAt: ended?.at };
    });
  }

  function expectExclusion(semaphore: string) {
    const all = runs(semaphore);
    const tokens = all.map(({ token }) => token!);
    expect(tokens).toEqual(tokens.toSorted((one, other) => one - other));
    expect(new Set(all.map(({ node, token }) => `${node} ${token}`)).size).toBe(new Set(tokens).size);
    const overlaps = all.filter(
      ({ endedAt }, index) => endedAt !== undefined && all[index + 1] && all[index + 1]!.at < endedAt,
    );
    expect(overlaps).toEqual([]);
  }

  it('keep one another out, and take over as fast as others, however often the holder is killed', async () => {
    const short = { semaphore: 'short' };
    await nodes.start({ name: 'right', jobs: ['short'] });
    await nodes.hears('begun', short, { since: 0 });
    await Promise.all([
      nodes.start({ name: 'ahead', jobs: ['short'] }, { offset: '+600s' }),
      nodes.start({ name: 'behind', jobs: ['short'] }, { offset: '-600s' }),
      nodes.start({ name: 'also-right', jobs: ['short'] }),
    ]);
    expectWrong('ahead', 600);
    expectWrong('behind', -600);
    const holders: string[] = [];
    for (let takeovers = 0; takeovers < 3; takeovers++) {
      const begun = await nodes.hears('begun', short);
      const holder = nodes.node(begun.node);
      await eventually('each of the others found the permit taken three times since', () => {
        const rivals = nodes.running.filter((node) => node !== holder);
        return rivals.every((node) => node.all('run-skipped', { ...short, reason: 'no-permit' }, begun.at).length >= 3);
      });
      const runners = nodes.all('begun', short, begun.at).map(({ node }) => node);
      expect(new Set(runners)).toEqual(new Set([holder.name]));
      await holder.kill();
      const { expiresAt } = await nodes.storedPermit('short');
      const granted = await nodes.hears('granted', short);
      const took = granted.permit!.grantedAt - expiresAt;
      figure(`${granted.node} took over from ${holder.name} after the expiry`, took);
      expect(took).toBeGreaterThanOrEqual(0);
      expect(took).toBeLessThan(CLOCK_TOLERANCE + TICK + SECOND);
      holders.push(granted.node);
    }
    expect(holders).toEqual(expect.arrayContaining(['ahead', 'behind']));
    expectExclusion('short');
    await Promise.all(nodes.running.map((node) => node.kill()));
  });

  it('stop early at worst when their wall clock jumps while they run', async () => {
    const long = { semaphore: 'long' };
    const offsetFile = join(folder, 'offset');
    await writeFile(offsetFile, '+0s');
    const jumper = await nodes.start({ name: 'jumper', jobs: ['long'] }, { offsetFile });
    const begun = await jumper.hears('begun', long, { since: 0 });
    const rival = await nodes.start({ name: 'rival', jobs: ['long'] });
    await rival.hears('run-skipped', { ...long, reason: 'no-permit' }, { since: 0 });
    await jumper.hears('refreshed', long);

    const jumpedAt = sharedNow();
    await writeFile(offsetFile, '+600s');
    const told = await jumper.hears('ended', long, { since: jumpedAt });
    expectWrong('jumper', 600);
    expect(told).toMatchObject({ token: begun.token, told: 'expired' });
    figure('told after the jump', told.at - jumpedAt);
    // It might be granted a new permit of its own at its next tick: the other's turn comes when that is over.
    await jumper.kill();
    const last = await nodes.storedPermit('long');
    const next = await rival.hears('granted', long);
    figure('time from the signal of the former holder to the next grant', next.at - told.at);
    expect(next.permit!.token).toBeGreaterThan(last.token);
    expect(next.permit!.grantedAt).toBeGreaterThanOrEqual(last.expiresAt);
    await rival.hears('begun', long, { since: next.at - SECOND });
    expectExclusion('long');
  });

  it('leave no error behind', () => expect(nodes.faults).toEqual([]));

  /** That the clock was wrong indeed: else these tests would show nothing. */
  function expectWrong(name: string, seconds: number) {
    const said: NodeSaid = nodes.node(name).said.at(-1)!;
    const right = Date.now() - (sharedNow() - said.at);
    expect(Math.round((said.wall - right) / SECOND)).toBe(seconds);
  }
});
