import { InvalidOptionsError, NotInCodeError } from 'nestjs-gatekeeper';
import { useCluster } from '../../support/nodes.js';
import { removed } from '../../support/removed.js';

const LOOK = 3000;
const definitions = ['a.one', 'a.two', 'b.one'].map((name) => ({ name, duration: '10s' }));
const OPTIONS = { definitions, heartbeat: 1000, sweepInterval: 1000 };

describe('a reset of many', () => {
  const cluster = useCluster();

  async function edited() {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node(OPTIONS);
    await gatekeeper.definitions.define({ name: 'a.by-hand', duration: '10s' });
    for (const name of ['a.one', 'a.by-hand', 'b.one']) {
      await gatekeeper.definitions.edit(name, { permits: 5 }, { by: 'ann' });
    }
    await removed(gatekeeper, 'a.two');
    const permitsOf = async (name: string) => (await gatekeeper.definitions.get(name))?.definition.permits;
    return { nodes, gatekeeper, permitsOf };
  }

  it('takes what matches back to the code: what was edited, and what was removed', async () => {
    const { gatekeeper, permitsOf } = await edited();
    const { definitions: all } = gatekeeper;
    const reset = await all.resetAll({ names: 'a.*', by: 'bob', reason: 'after the flood' });
    expect(reset).toMatchObject({ done: ['a.one', 'a.two'], failed: [], remaining: 0 });
    expect([await permitsOf('a.one'), await permitsOf('a.two')]).toEqual([1, 1]);
    expect(await all.get('a.one')).toMatchObject({
      source: 'code',
      isOverridden: false,
      change: { kind: 'reset', by: 'bob', reason: 'after the flood' },
    });
    expect(await all.resetAll({ names: 'a.*' })).toMatchObject({ done: [], remaining: 0 });
  });

  it('leaves alone what does not match, and what no code of this node defines', async () => {
    const { gatekeeper, permitsOf } = await edited();
    await gatekeeper.definitions.resetAll({ names: 'a.*' });
    expect([await permitsOf('b.one'), await permitsOf('a.by-hand')]).toEqual([5, 5]);
    await expect(gatekeeper.definitions.resetAll({ names: 'a.by-hand' })).rejects.toThrow(NotInCodeError);
  });

  it('goes on where it stopped, and can be undone as a whole', async () => {
    const { nodes, gatekeeper, permitsOf } = await edited();
    const first = await gatekeeper.definitions.resetAll({ limit: 2 });
    expect(first).toMatchObject({ remaining: 1 });
    const second = await gatekeeper.definitions.resetAll({ limit: 2, bulk: first.bulk });
    expect([...first.done, ...second.done].toSorted()).toEqual(['a.one', 'a.two', 'b.one']);
    await nodes.time.advance(200);
    await gatekeeper.definitions.undo(first.bulk);
    expect([await permitsOf('a.one'), await permitsOf('b.one')]).toEqual([5, 5]);
  });

  it('refuses a pattern that is none, and changes nothing', async () => {
    const { gatekeeper, permitsOf } = await edited();
    await expect(gatekeeper.definitions.resetAll({ names: '(' })).rejects.toThrow(InvalidOptionsError);
    expect(await permitsOf('a.one')).toBe(5);
  });

  it('ends the fault that tells of a removed name', async () => {
    const { nodes, gatekeeper } = await edited();
    await nodes.time.advance(LOOK);
    const faults = async () => (await gatekeeper.health()).faults.filter(({ code }) => code === 'semaphores-removed');
    expect(await faults()).toMatchObject([{ sentence: expect.stringContaining('"a.two" was removed') }]);
    await gatekeeper.definitions.resetAll();
    expect(await faults()).toEqual([]);
  });
});
