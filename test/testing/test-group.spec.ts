import { TestGroup } from '../../lib/testing/gatekeeper/test-group.js';

const owning = (...ids: string[]) => new Map(ids.map((id) => [id, id] as const));

describe('an allocation group of the testing gatekeeper', () => {
  it('emits what is owned at once, and completes when the node closes and owns nothing', async () => {
    const group = new TestGroup<string>('queues', 'app1');
    const seen: unknown[] = [];
    group.owned$.subscribe({ next: (owned) => seen.push(owned.length), complete: () => seen.push('complete') });
    await group.own(owning('a', 'b'));
    await group.close();
    expect(seen).toEqual([0, 2, 0, 'complete']);
  });

  it('calls a late listener with everything that is owned', async () => {
    const group = new TestGroup<string>('queues', 'app1');
    await group.own(owning('a', 'b'));
    const told: string[][] = [];
    group.onAllocated((owned, { added }) => void told.push([...owned, ...added].map(({ id }) => id)));
    await group.own(owning('a', 'b'));
    expect(told).toEqual([['a', 'b', 'a', 'b']]);
  });

  it('throws the error of the first call of a late listener with the next change', async () => {
    const group = new TestGroup<string>('queues', 'app1');
    await group.own(owning('a'));
    group.onAllocated(() => {
      throw new Error('no disk');
    });
    await expect(group.own(owning('a', 'b'))).rejects.toThrow('no disk');
  });

  it('calls one at a time', async () => {
    const group = new TestGroup<string>('queues', 'app1');
    let [running, most] = [0, 0];
    group.onAllocated(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
    });
    await Promise.all([group.own(owning('a')), group.own(owning('b'))]);
    expect([most, group.owned().map(({ id }) => id)]).toEqual([1, ['b']]);
  });
});
