import { type AllocationChange, NotOwnerError, type Ownership } from 'nestjs-gatekeeper';
import { kill } from '../support/members.js';
import { type TestCluster, useCluster } from '../support/nodes.js';
import {
  BEGIN,
  CRASH,
  LEASE,
  type Owner,
  type ToldChange,
  pass,
  sharesOf,
  sizesOf,
  startOwner,
  startOwners,
  toldOf,
} from './groups.js';

const faultsOf = async ({ group }: Owner) => (await group.overview()).faults;

/** A promise that the test resolves. */
function held() {
  let release = () => {};
  const promise = new Promise<void>((resolve) => (release = resolve));
  return { promise, release };
}

describe('a revoked resource', () => {
  const cluster = useCluster();

  it('goes to another node only when the callback has ended', async () => {
    const nodes = cluster();
    const callback = held();
    const onAllocated = async (_owned: unknown, { revoked }: AllocationChange) =>
      revoked.length > 0 ? callback.promise : undefined;
    const one = await startOwner(nodes, { onAllocated });
    await pass(nodes, [one], BEGIN, () => sharesOf([one]) === 'abcdef');
    const owners = [one, await startOwner(nodes)];
    await pass(nodes, owners, 8000);
    // The first node does not begin new work on them, and the other one does not have them yet.
    expect(sizesOf(owners)).toEqual([3, 0]);
    callback.release();
    const took = await pass(nodes, owners, 2000, () => sizesOf(owners).join() === '3,3');
    expect(took).toBeLessThan(500);
  });

  it('goes to another node after handoverTimeout if the callback hangs, and that is reported', async () => {
    const nodes = cluster();
    const signals: AbortSignal[] = [];
    const onAllocated = (_owned: unknown, { revoked, signal }: AllocationChange) => {
      if (revoked.length === 0) return undefined;
      signals.push(signal);
      return new Promise(() => {});
    };
    const one = await startOwner(nodes, { onAllocated, handoverTimeout: '4s' });
    await pass(nodes, [one], BEGIN, () => sharesOf([one]) === 'abcdef');
    const owners = [one, await startOwner(nodes)];
    const took = await pass(nodes, owners, 10_000, () => sizesOf(owners).join() === '3,3');
    expect(took).toBeGreaterThan(2000 + 4000);
    expect(took).toBeLessThan(2000 + 4000 + 1000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(one.of('problem')).toMatchObject([
      { semaphore: 'allocation:queues', action: 'give resources back', error: signals[0]!.reason },
    ]);
    expect(String(signals[0]!.reason)).toContain('took longer than 4000 ms: other nodes may own them now');
  });

  it('goes to another node if the callback throws, and that is reported', async () => {
    const nodes = cluster();
    const onAllocated = () => {
      throw new Error('no disk');
    };
    const owners = [await startOwner(nodes, { onAllocated }), await startOwner(nodes)];
    await pass(nodes, owners, 2 * BEGIN, () => sizesOf(owners).join() === '3,3');
    for (const problem of owners[0]!.of('problem')) {
      expect(problem).toMatchObject({ action: 'run onAllocated', error: { message: 'no disk' } });
    }
    expect(owners[0]!.of('problem')).not.toEqual([]);
  });

  it('is one call at a time, and several changes meanwhile are one call', async () => {
    const nodes = cluster();
    let running = 0;
    const most: number[] = [];
    const first = held();
    const onAllocated = async () => {
      most.push(++running);
      if (most.length === 1) await first.promise;
      running--;
    };
    let resources = ['a', 'b'];
    const one = await startOwner(nodes, { onAllocated, resources: () => resources, handoverTimeout: '60s' });
    await pass(nodes, [one], BEGIN, () => sharesOf([one]) === 'ab');
    for (const next of ['c', 'd']) {
      resources = [...resources, next];
      await one.group.rebalance();
      await pass(nodes, [one], 3000, () => one.group.owns(next));
    }
    expect(most).toEqual([1]);
    first.release();
    await nodes.time.advance(100);
    expect(most).toEqual([1, 1]);
  });
});

describe('a callback that takes longer than handoverTimeout', () => {
  const cluster = useCluster();

  /** One node whose callback about new resources takes until the test ends it. */
  async function busy() {
    const nodes = cluster();
    const callback = held();
    const [running, signals]: [number[], AbortSignal[]] = [[0], []];
    const onAllocated = async (_owned: unknown, { added, signal }: AllocationChange) => {
      signals.push(signal);
      running.push(running.at(-1)! + 1);
      if (added.length > 0) await callback.promise;
      running.push(running.at(-1)! - 1);
    };
    let resources = ['a', 'b'];
    const add = (id: string) => (resources = [...resources, id]);
    const one = await startOwner(nodes, { onAllocated, resources: () => resources, handoverTimeout: '2s' });
    await pass(nodes, [one], BEGIN, () => sharesOf([one]) === 'ab');
    return { nodes, one, callback, signals, add, most: () => Math.max(...running) };
  }

  it('is no problem while no change waits for it', async () => {
    const { nodes, one, signals } = await busy();
    await pass(nodes, [one], 60_000);
    expect([one.of('problem'), await faultsOf(one), signals[0]!.aborted]).toEqual([[], [], false]);
  });

  it('is a fault while a change waits for it, and the next call tells that when it ends', async () => {
    const { nodes, one, callback, signals, add, most } = await busy();
    add('c');
    await one.group.rebalance();
    await pass(nodes, [one], 8000);
    expect(one.group.owns('c')).toBe(true);
    expect(one.of('problem')).toMatchObject([{ action: 'run onAllocated' }]);
    expect(await faultsOf(one)).toEqual([expect.stringContaining('1 resources that this node owns wait for it')]);
    expect(one.gatekeeper.health().faults).toMatchObject([{ code: 'allocation-failing' }]);
    callback.release();
    await nodes.time.advance(100);
    expect([most(), signals.length, signals[0]!.aborted]).toEqual([1, 2, false]);
    expect(await faultsOf(one)).toEqual([]);
  });

  it('is aborted so long after another node waits for a resource', async () => {
    const { nodes, one, signals } = await busy();
    await pass(nodes, [one], 8000);
    const owners = [one, await startOwner(nodes, { resources: () => ['a', 'b'] })];
    await pass(nodes, owners, 10_000, () => one.group.owned().length === 1);
    const took = await pass(nodes, owners, 10_000, () => sizesOf(owners).join() === '1,1');
    expect(took).toBeGreaterThan(1500);
    expect(took).toBeLessThan(2 * 2000 + 1000);
    expect(signals[0]!.aborted).toBe(true);
    expect(one.of('problem')).toMatchObject([{ semaphore: 'allocation:queues', error: signals[0]!.reason }]);
  });

  it('is aborted so long after its node lost its lease', async () => {
    const { nodes, one, signals } = await busy();
    kill(one);
    await pass(nodes, [one], LEASE + 2000 + 500);
    expect(signals[0]!.aborted).toBe(true);
  });

  it('does not keep its node from closing for longer', async () => {
    const { nodes, one, signals } = await busy();
    const closing = one.gatekeeper.close();
    await nodes.time.advance(10_000);
    await closing;
    expect(signals[0]!.aborted).toBe(true);
  });
});

describe('a callback that never ends', () => {
  const cluster = useCluster();
  const TIMEOUT = 3000;

  /** A node whose callbacks end when the test says so, and another one that takes half of its resources. */
  async function hanging(nodes: TestCluster) {
    const calls: { readonly change: ToldChange; readonly signal: AbortSignal; end(): void }[] = [];
    const onAllocated = (owned: readonly { id: string }[], change: AllocationChange<string>) => {
      const { promise, release } = held();
      calls.push({ change: toldOf(owned, change), signal: change.signal, end: release });
      return promise;
    };
    const one = await startOwner(nodes, { onAllocated, handoverTimeout: TIMEOUT, settleDelay: 0 });
    await pass(nodes, [one], BEGIN, () => sharesOf([one]) === 'abcdef');
    await pass(nodes, [one], 1000);
    const owners = [one, await startOwner(nodes, { settleDelay: 0 })];
    await pass(nodes, owners, BEGIN, () => one.group.owned().length === 3);
    return { one, owners, calls };
  }

  it('keeps a revoked resource for one handoverTimeout, also if it ran before the resource was revoked', async () => {
    const nodes = cluster();
    const { owners, calls } = await hanging(nodes);
    const took = await pass(nodes, owners, 3 * TIMEOUT, () => sizesOf(owners).join() === '3,3');
    expect(took).toBeGreaterThan(TIMEOUT - 200);
    expect(took).toBeLessThan(TIMEOUT + 700);
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([true]);
  });

  it('leaves what is left of handoverTimeout to the next call', async () => {
    const nodes = cluster();
    const { owners, calls } = await hanging(nodes);
    await pass(nodes, owners, 2000);
    calls[0]!.end();
    const took = await pass(nodes, owners, 3 * TIMEOUT, () => sizesOf(owners).join() === '3,3');
    expect(took).toBeLessThan(TIMEOUT - 2000 + 700);
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([false, true]);
    expect(calls[1]!.change.revoked).toHaveLength(3);
  });

  it('is never joined by a second call, which tells everything that changed since', async () => {
    const nodes = cluster();
    const { one, owners, calls } = await hanging(nodes);
    await pass(nodes, owners, 3 * TIMEOUT, () => sizesOf(owners).join() === '3,3');
    await nodes.closeOne(owners[1]!);
    await pass(nodes, owners, CRASH, () => sharesOf(owners) === 'abcdef|');
    await pass(nodes, owners, 3 * TIMEOUT);
    expect(calls).toHaveLength(1);
    expect(await faultsOf(one)).toEqual([expect.stringContaining('3 resources that this node owns wait for it')]);
    calls[0]!.end();
    await pass(nodes, owners, 100);
    // With other tokens: they were another node's meanwhile.
    expect(calls[1]!.change.added).toHaveLength(3);
    expect([calls.length, calls[1]!.change.owned.join(''), calls[1]!.signal.aborted]).toEqual([2, 'abcdef', false]);
  });

  it('keeps no other listener from hearing of changes', async () => {
    const nodes = cluster();
    let resources = ['a'];
    const one = await startOwner(nodes, {
      resources: () => resources,
      onAllocated: () => new Promise(() => undefined),
    });
    const told: ToldChange[] = [];
    one.group.onAllocated((owned, change) => void told.push(toldOf(owned, change)));
    await pass(nodes, [one], BEGIN, () => sharesOf([one]) === 'a');
    resources = ['b', 'c'];
    await one.group.rebalance();
    await pass(nodes, [one], 30_000);
    expect(told.at(-1)!.owned).toEqual(['b', 'c']);
  });

  it('is called no more after its node has closed', async () => {
    const nodes = cluster();
    const { one, owners, calls } = await hanging(nodes);
    const closing = one.gatekeeper.close();
    await pass(nodes, owners, 3 * TIMEOUT);
    await closing;
    calls[0]!.end();
    await pass(nodes, owners, 1000);
    expect(calls).toHaveLength(1);
  });
});

describe('work on a resource', () => {
  const cluster = useCluster();

  it('runs only on its owner, with a token', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 2);
    const { id, token } = owners[0]!.group.owned()[0]!;
    const seen = await owners[0]!.group.run(id, (ownership) => {
      ownership.assertOwned();
      return [ownership.resource, ownership.token, ownership.isOwned, ownership.signal.aborted];
    });
    expect(seen).toEqual({ executed: true, value: [id, token, true, false] });
    const refuse = () => {
      throw new Error('must not run');
    };
    expect(await owners[1]!.group.run(id, refuse)).toEqual({ executed: false, reason: 'not-owner' });
  });

  it('throws its own errors', async () => {
    const nodes = cluster();
    const one = await startOwner(nodes);
    await pass(nodes, [one], BEGIN, () => sharesOf([one]) === 'abcdef');
    await expect(one.group.run('a', () => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
  });

  it('is aborted when the resource is revoked, and the resource waits for it', async () => {
    const nodes = cluster();
    const one = await startOwner(nodes, { onAllocated: () => undefined });
    await pass(nodes, [one], BEGIN, () => sharesOf([one]) === 'abcdef');
    const work = held();
    const seen: Ownership[] = [];
    const running = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) =>
      one.group.run(id, async (ownership) => {
        seen.push(ownership);
        await work.promise;
      }),
    );
    const owners = [one, await startOwner(nodes)];
    await pass(nodes, owners, 6000);
    const aborted = seen.filter(({ signal }) => signal.aborted);
    expect(aborted).toHaveLength(3);
    expect(sizesOf(owners)).toEqual([3, 0]);
    for (const { signal, assertOwned } of aborted) {
      expect(signal.reason).toBeInstanceOf(NotOwnerError);
      expect(assertOwned).toThrow(NotOwnerError);
    }
    work.release();
    await Promise.all(running);
    await pass(nodes, owners, 1000, () => sizesOf(owners).join() === '3,3');
  });

  it('keeps its resource for handoverTimeout from its own revocation, also if another one came long before', async () => {
    const nodes = cluster();
    const timeout = 8000;
    const ids = [...'abcdefghijkl'];
    const options = { resources: () => ids, settleDelay: 0 };
    const one = await startOwner(nodes, { ...options, handoverTimeout: timeout });
    await pass(nodes, [one], BEGIN, () => one.group.owned().length === ids.length);
    const first = held();
    const abortedAt = new Map<string, number>();
    for (const id of ids) {
      void one.group.run(id, async ({ signal }) => {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        abortedAt.set(id, nodes.time.monotonic());
        return abortedAt.size <= 6 ? first.promise : new Promise(() => undefined);
      });
    }
    const owners = [one];
    // Three revocations: the work of the first one ends after the third, the other work never ends.
    for (const aborted of [6, 8, 9]) {
      owners.push(await startOwner(nodes, options));
      await pass(nodes, owners, BEGIN, () => abortedAt.size === aborted);
      await pass(nodes, owners, 2000);
    }
    first.release();
    const kept: number[] = [];
    for (const [id, at] of [...abortedAt].slice(6)) {
      await pass(nodes, owners, 2 * timeout, () => owners.slice(1).some(({ group }) => group.owns(id)));
      kept.push(nodes.time.monotonic() - at);
    }
    expect(Math.min(...kept)).toBeGreaterThanOrEqual(timeout);
    expect(one.of('problem')).toHaveLength(2);
  });

  it('is aborted when the node cannot renew its lease, before another node gets the resource', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 2);
    const one = owners[0]!;
    const { id } = one.group.owned()[0]!;
    const ended: number[] = [];
    const running = one.group.run(id, async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      ended.push(nodes.time.monotonic());
    });
    kill(one);
    const began = nodes.time.monotonic();
    await pass(nodes, owners, CRASH, () => sizesOf(owners).join() === '6,0');
    await running;
    expect(ended[0]! - began).toBeLessThan(LEASE);
    expect(one.group.owns(id)).toBe(false);
  });
});
