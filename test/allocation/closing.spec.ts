import { describe, expect, it } from '@jest/globals';
import { openEnd, useCluster } from '../support/nodes.js';
import { BEGIN, CRASH, pass, sharesOf, sizesOf, startOwners } from './groups.js';

describe('a node that closes while it works on its resources', () => {
  const cluster = useCluster();

  it('aborts the work, and gives the resources back when the work has ended', async () => {
    const nodes = cluster();
    const [one, other] = await startOwners(nodes, 2);
    const { id } = other!.group.owned()[0]!;
    const { work, end } = openEnd();
    let signal: AbortSignal | undefined;
    const run = other!.group.run(id, (ownership) => {
      signal = ownership.signal;
      return work();
    });
    const closed = other!.gatekeeper.close();
    await pass(nodes, [one!, other!], 1000);
    expect(signal!.aborted).toBe(true);
    expect(one!.group.owns(id)).toBe(false);
    end();
    await pass(nodes, [one!, other!], 1000, () => sizesOf([one!]).join() === '6');
    await Promise.all([run, closed]);
  });

  it('owns nothing from then on, and starts no work', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 2, { onAllocated: () => new Promise(() => undefined) });
    const [one, other] = owners;
    const { id } = other!.group.owned()[0]!;
    const seen: number[] = [];
    other!.group.owned$.subscribe((owned) => seen.push(owned.length));
    const closed = other!.gatekeeper.close();
    expect(seen).toEqual([3, 0]);
    expect(sharesOf([other!])).toBe('');
    expect(other!.group.owns(id)).toBe(false);
    expect(await other!.group.run(id, () => 'ran')).toEqual({ executed: false, reason: 'not-owner' });
    await pass(nodes, [one!, other!], BEGIN + 2 * CRASH, () => sizesOf([one!]).join() === '6');
    await closed;
  });
});
