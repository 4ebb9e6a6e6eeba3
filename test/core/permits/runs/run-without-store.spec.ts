import { NoQuorumError, StoreUnavailableError, currentPermit } from 'nestjs-gatekeeper';
import { JOB, useCluster } from '../../../support/nodes.js';

describe('a run while the store can not be asked', () => {
  const cluster = useCluster();

  async function cutOff(error: Error = new StoreUnavailableError('no member')) {
    const node = await cluster().node();
    node.store.script = async () => {
      throw error;
    };
    return node;
  }

  it('is skipped: it fails closed', async () => {
    const { gatekeeper } = await cutOff();
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'unavailable' });
  });

  it('is skipped for lack of a quorum too, by that name', async () => {
    const { gatekeeper } = await cutOff(new NoQuorumError('1 of 3'));
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'no-quorum' });
  });

  it('takes place without a permit with onUnavailable: run, and everybody can tell', async () => {
    const { gatekeeper, of, log } = await cutOff();
    const seen = await gatekeeper.run(
      'job',
      (permit) => {
        expect(() => permit.assertHeld()).toThrow(/onUnavailable: 'run'/);
        const { isGuarded, token, isHeld, remaining } = currentPermit();
        return { isGuarded, token, isHeld, remaining, aborted: permit.signal.aborted };
      },
      { onUnavailable: 'run', job: 'Jobs.export' },
    );
    expect(seen).toEqual({
      executed: true,
      value: { isGuarded: false, token: 0, isHeld: false, remaining: 0, aborted: false },
    });
    expect(of('run-unguarded')).toEqual([
      { type: 'run-unguarded', semaphore: 'job', job: 'Jobs.export', reason: 'unavailable' },
    ]);
    expect(log).toContainEqual(expect.stringMatching(/^warn "job": Jobs.export runs WITHOUT a permit/));
  });

  it('is skipped with onUnavailable: run too when the store can be asked and denies', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.tryAcquire('job');
    expect(await other.gatekeeper.run('job', () => 1, { onUnavailable: 'run' })).toEqual({
      executed: false,
      reason: 'no-permit',
    });
  });

  it('tells once that the store is lost, and once that it is back', async () => {
    const { gatekeeper, store, events, log } = await cutOff();
    await gatekeeper.run('job', () => 1);
    await gatekeeper.run('job', () => 1);
    store.script = undefined;
    await gatekeeper.run('job', () => 1);
    await gatekeeper.run('job', () => 1);
    expect(events.filter(({ type }) => type.startsWith('store-')).map(({ type }) => type)).toEqual([
      'store-lost',
      'store-back',
    ]);
    expect(log.filter((line) => line.startsWith('warn'))).toEqual([expect.stringMatching(/: no member$/)]);
  });

  it('tells of it once, also where nothing but the sweep asks the store, and it stays away', async () => {
    const nodes = cluster();
    const { store, log, of } = await nodes.node();
    store.script = async () => {
      throw new StoreUnavailableError('no member');
    };
    await nodes.time.advance(28_000);
    expect(of('problem').length).toBeGreaterThan(1);
    expect(of('store-lost')).toHaveLength(1);
    expect(log.filter((line) => line.startsWith('warn'))).toEqual([expect.stringMatching(/: no member$/)]);
  });

  it('warns of a store that was never reached only once a healthy start would be over', async () => {
    const nodes = cluster();
    const { gatekeeper, store, of } = nodes.unstarted({ definitions: [JOB] });
    store.script = async () => {
      throw new StoreUnavailableError('connecting');
    };
    await gatekeeper.start();
    await gatekeeper.run('job', () => 1);
    expect(of('store-lost')).toEqual([]);
    await nodes.time.advance(60_000);
    await gatekeeper.run('job', () => 1);
    expect(of('store-lost')).toHaveLength(1);
  });

  it('is an error of tryAcquire', async () => {
    const { gatekeeper } = await cutOff();
    await expect(gatekeeper.tryAcquire('job')).rejects.toThrow(StoreUnavailableError);
  });
});
