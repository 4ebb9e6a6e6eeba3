import { type RunPermit, StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { type TestNode, useCluster } from '../../support/nodes.js';

/** A sequence of numbers from 0 to 1 that is the same in every run. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** One call in three goes wrong, in one of five ways. */
function failing({ store }: TestNode, random: () => number): void {
  const ways: ((go: () => Promise<unknown>) => Promise<unknown>)[] = [
    () => Promise.reject(new StoreUnavailableError('away')),
    () => Promise.reject(new UnknownOutcomeError('not sent?')),
    (go) => go().then(() => Promise.reject(new UnknownOutcomeError('sent?'))),
    (go) => go().then(() => new Promise(() => undefined)),
    () => new Promise(() => undefined),
  ];
  store.script = (_, go) => (random() < 0.33 ? ways[Math.floor(random() * ways.length)]!(go) : go());
}

describe('a store that fails in every way', () => {
  const cluster = useCluster();

  it.each([1, 2, 3])('makes neither two holders nor an unhandled rejection (seed %d)', async (seed) => {
    const nodes = cluster();
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    const all = [await nodes.node(), await nodes.node(), await nodes.node()];
    const holders = new Map<TestNode, number>();
    let most = 0;
    const workOf = (node: TestNode) => async (permit: RunPermit) => {
      holders.set(node, (holders.get(node) ?? 0) + 1);
      most = Math.max(most, [...holders.values()].filter((count) => count > 0).length);
      await new Promise<void>((resolve) => {
        nodes.time.schedule(resolve, 3000);
        permit.signal.addEventListener('abort', () => resolve());
      });
      holders.set(node, holders.get(node)! - 1);
    };
    const random = chance(seed);
    for (const node of all) failing(node, random);
    for (let turn = 0; turn < 200; turn++) {
      const node = all[turn % all.length]!;
      void node.gatekeeper.run('job', workOf(node), { atLeastFor: random() < 0.2 ? undefined : 0 });
      await nodes.time.advance(700);
    }
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    expect(most).toBe(1);
    expect(all.flatMap(({ of }) => of('run-finished')).length).toBeGreaterThan(10);
    for (const { store } of all) store.script = undefined;
  });
});

describe('strictStart', () => {
  const cluster = useCluster();

  it('takes nothing over before it has watched for one duration', async () => {
    const nodes = cluster();
    const dead = await nodes.node({ sweepInterval: '1h' });
    await dead.gatekeeper.tryAcquire('job');
    dead.store.script = () => new Promise(() => undefined);
    await nodes.time.advance(10_600);
    const careful = await nodes.node({ strictStart: true });
    expect(await careful.gatekeeper.tryAcquire('job')).toBeUndefined();
    await nodes.time.advance(10_600);
    expect(await careful.gatekeeper.tryAcquire('job')).toBeDefined();
  });
});
