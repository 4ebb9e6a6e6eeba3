import { NotInCodeError } from 'nestjs-gatekeeper';
import { settled } from '../../support/fake-time.js';
import { JOB, type TestCluster, type TestNode, useCluster } from '../../support/nodes.js';
import { removed } from '../../support/removed.js';

const ANN = { by: 'ann', reason: 'flood' };

/** A node through which operators work, and one that works. */
async function two(nodes: TestCluster): Promise<[TestNode, TestNode]> {
  return [await nodes.node(), await nodes.node()];
}

describe('what an operator takes away through the node that holds it', () => {
  const cluster = useCluster();

  it.each(['revoke', 'remove'] as const)('ends at once: %s', async (verb) => {
    const { gatekeeper, of, events } = await cluster().node();
    const permit = (await gatekeeper.tryAcquire('job'))!;
    await (verb === 'revoke' ? gatekeeper.definitions.revoke('job', permit.id, ANN) : removed(gatekeeper, 'job', ANN));
    await settled();
    expect(permit.signal.aborted).toBe(true);
    expect(of('lost')).toMatchObject([{ reason: 'revoked', permit: { id: permit.id } }]);
    // The event of the change comes before the events of its effects.
    expect(events.map(({ type }) => type).filter((type) => type === 'audited' || type === 'lost')).toEqual([
      'audited',
      'lost',
    ]);
  });

  it('or gives, reaches who waits there', async () => {
    const { gatekeeper } = await cluster().node();
    await gatekeeper.definitions.pause('job', ANN);
    const waiting = gatekeeper.acquire('job', { timeout: '1h' });
    await settled();
    await gatekeeper.definitions.resume('job', ANN);
    expect((await waiting).isHeld).toBe(true);
  });
});

describe('reset and remove', () => {
  const cluster = useCluster();

  it('put back what code says', async () => {
    const { gatekeeper } = await cluster().node();
    const { definitions } = gatekeeper;
    await definitions.edit('job', { permits: 5 }, ANN);
    expect(await definitions.get('job')).toMatchObject({ isOverridden: true, code: { permits: 1 } });
    const state = await definitions.reset('job', { by: 'bob' });
    expect(state).toMatchObject({ revision: 3, definition: { permits: 1 }, isOverridden: false });
    expect(state.change).toMatchObject({ kind: 'reset', by: 'bob' });
  });

  it('bring back what was removed, and leave paused what is paused', async () => {
    const { gatekeeper } = await cluster().node();
    const { definitions } = gatekeeper;
    expect(await removed(gatekeeper, 'job', ANN)).toBe(true);
    expect(await removed(gatekeeper, 'job')).toBe(false);
    expect(await definitions.get('job')).toBeUndefined();
    expect(await definitions.reset('job')).toMatchObject({ revision: 3, definition: { permits: 1 } });
    await definitions.pause('job');
    await definitions.reset('job');
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'paused' });
  });

  it('are refused where there is nothing to put back', async () => {
    const [one, other] = await two(cluster());
    await one.gatekeeper.definitions.define({ name: 'by hand', duration: '10s' });
    await expect(other.gatekeeper.definitions.reset('by hand')).rejects.toThrow(NotInCodeError);
    expect(await other.gatekeeper.definitions.get('by hand')).not.toHaveProperty('code');
  });

  it('count what a node of another version says as overridden there', async () => {
    const nodes = cluster();
    await nodes.node();
    const newer = await nodes.node({ definitions: [{ ...JOB, permits: 3 }] });
    expect(await newer.gatekeeper.definitions.get('job')).toMatchObject({ isOverridden: true, code: { permits: 3 } });
    expect(await newer.gatekeeper.definitions.reset('job')).toMatchObject({ definition: { permits: 3 } });
  });

  it('end what is held', async () => {
    const nodes = cluster();
    const [one, other] = await two(nodes);
    const permit = (await other.gatekeeper.tryAcquire('job'))!;
    const { signal } = permit;
    await removed(one.gatekeeper, 'job', ANN);
    await nodes.time.advance(0);
    expect(signal.reason).toMatchObject({ code: 'permit-lost', reason: 'revoked' });
  });
});

describe('revoke', () => {
  const cluster = useCluster();

  it.each([
    ['another node', 0],
    ['the node that holds it', 1],
  ])('through %s aborts the signal at once, and frees the slot', async (_, through) => {
    const nodes = cluster();
    const both = await two(nodes);
    const permit = (await both[1].gatekeeper.tryAcquire('job'))!;
    const { signal } = permit;
    expect(await both[through]!.gatekeeper.definitions.revoke('job', permit.id, ANN)).toBe(true);
    await nodes.time.advance(0);
    expect(signal).toMatchObject({ aborted: true, reason: { code: 'permit-lost', reason: 'revoked' } });
    expect(permit.isHeld).toBe(false);
    expect(() => permit.assertHeld()).toThrow(/revoked/);
    expect(await both[0].gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it('takes nothing that is not held any more', async () => {
    const [one, other] = await two(cluster());
    const permit = (await other.gatekeeper.tryAcquire('job'))!;
    await permit.release();
    const next = (await other.gatekeeper.tryAcquire('job'))!;
    expect(await one.gatekeeper.definitions.revoke('job', permit.id)).toBe(false);
    expect(await one.gatekeeper.definitions.revoke('typo', permit.id)).toBe(false);
    expect(next.isHeld).toBe(true);
    expect(one.of('audited')).toEqual([]);
  });

  it('of a paused one ends the run that goes on', async () => {
    const nodes = cluster();
    const [one, other] = await two(nodes);
    const permit = (await other.gatekeeper.tryAcquire('job'))!;
    const { signal } = permit;
    await one.gatekeeper.definitions.pause('job');
    await one.gatekeeper.definitions.revoke('job', permit.id);
    await nodes.time.advance(0);
    expect(signal.aborted).toBe(true);
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
  });
});
