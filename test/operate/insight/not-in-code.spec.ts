import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { JOB, type TestNode, useCluster } from '../../support/nodes.js';

const MINUTE = 60_000;
/** ms after which a name that was left out is none of a deploy, and a node has looked since. */
const STANDING = 17 * MINUTE;
const OTHER = { name: 'other', duration: '10s' };
const CODE = { definitions: [JOB, OTHER], heartbeat: 10_000 };

async function leftOver({ gatekeeper }: TestNode): Promise<string[]> {
  const { semaphores } = await gatekeeper.overview();
  return semaphores.flatMap(({ name, warnings }) =>
    warnings.some(({ code }) => code === 'not-in-code') ? [name] : [],
  );
}

describe('a semaphore that no living node has in its code any more', () => {
  const cluster = useCluster();

  it('has a warning with what to do, once that lasts longer than a deploy', async () => {
    const nodes = cluster();
    const old = await nodes.node(CODE);
    const one = await nodes.node({ ...CODE, definitions: [OTHER] });
    await nodes.time.advance(60 * MINUTE);
    expect(await leftOver(one)).toEqual([]);
    await nodes.closeOne(old);
    await nodes.time.advance(13 * MINUTE);
    expect(await leftOver(one)).toEqual([]);
    await nodes.time.advance(4 * MINUTE);
    expect(await leftOver(one)).toEqual([JOB.name]);
    const { semaphores } = await one.gatekeeper.overview(JOB.name);
    expect(semaphores[0]!.warnings).toEqual([
      { code: 'not-in-code', sentence: expect.stringMatching(/nothing runs under it.* remove it$/) },
    ]);
  });

  it('has none when a node has it again, and is gone when it is removed', async () => {
    const nodes = cluster();
    const old = await nodes.node(CODE);
    const one = await nodes.node({ ...CODE, definitions: [] });
    await nodes.closeOne(old);
    await nodes.time.advance(STANDING);
    expect(await leftOver(one)).toEqual([JOB.name, OTHER.name]);
    await one.gatekeeper.definitions.remove(JOB.name);
    expect(await leftOver(one)).toEqual([OTHER.name]);
    await nodes.node({ ...CODE, definitions: [OTHER] });
    await nodes.time.advance(2 * MINUTE);
    expect(await leftOver(one)).toEqual([]);
  });

  it('has none if an operator has defined it, or somebody holds a permit', async () => {
    const nodes = cluster();
    const old = await nodes.node(CODE);
    const one = await nodes.node({ ...CODE, definitions: [] });
    await one.gatekeeper.definitions.edit(JOB.name, { duration: '30s' });
    await nodes.closeOne(old);
    await one.gatekeeper.tryAcquire(OTHER.name, { keepAlive: true });
    await nodes.time.advance(STANDING);
    expect(await leftOver(one)).toEqual([]);
  });

  it('has none from a node that has just started: it may be the first of all', async () => {
    const nodes = cluster();
    const old = await nodes.node(CODE);
    await nodes.time.advance(MINUTE);
    await nodes.closeOne(old);
    await nodes.time.advance(60 * MINUTE);
    const one = await nodes.node({ ...CODE, definitions: [] });
    await nodes.time.advance(13 * MINUTE);
    expect(await leftOver(one)).toEqual([]);
  });

  it('has none while the nodes can not be read, nor for as long after that', async () => {
    const nodes = cluster();
    const old = await nodes.node(CODE);
    const one = await nodes.node({ ...CODE, definitions: [] });
    await nodes.closeOne(old);
    await nodes.time.advance(5 * MINUTE);
    one.store.script = (call, go) => (call === 'page' ? Promise.reject(new StoreUnavailableError('away')) : go());
    await nodes.time.advance(20 * MINUTE);
    delete one.store.script;
    await nodes.time.advance(13 * MINUTE);
    expect(await leftOver(one)).toEqual([]);
    await nodes.time.advance(4 * MINUTE);
    expect(await leftOver(one)).toEqual([JOB.name, OTHER.name]);
  });

  it("is never one of the package's own", async () => {
    const nodes = cluster();
    const one = await nodes.node({ ...CODE, leadership: { enabled: true, scopes: ['default'] } });
    await nodes.time.advance(STANDING);
    expect(await leftOver(one)).toEqual([]);
  });
});
