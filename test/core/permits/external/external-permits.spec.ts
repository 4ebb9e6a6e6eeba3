import { UnknownOutcomeError } from 'nestjs-gatekeeper';
import { START, settled } from '../../../support/fake-time.js';
import { JOB, outcomeOf, useCluster } from '../../../support/nodes.js';
import {
  DURATION,
  TOLERANCE,
  deafNode,
  onNextWrite,
  take,
  taken,
  hangingUp,
} from '../../../support/external-client.js';
import { partsOf } from '../../../../lib/gatekeeper/parts.js';

afterEach(() => void jest.restoreAllMocks());

describe('what is left of a permit for one who is no node', () => {
  const cluster = useCluster();

  it('is its duration less the tolerance and the time that the store took', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    onNextWrite(node, (go) => (nodes.time.freeze(300), go()));
    const remaining = DURATION - TOLERANCE - 300;
    expect(await take(node)).toMatchObject({ remaining, permit: { expiresAt: START + DURATION } });
  });

  it('counts from when it was asked for: what the asker waited comes on top', async () => {
    // Waits of whole ms: a time of day, which is a large number, has no room for the smallest parts of one.
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const nodes = cluster();
    const node = await nodes.node();
    await taken(node, { holder: 'first', duration: 3000 });
    const waiting = take(node, { holder: 'second', duration: 2000, wait: 10_000 });
    await nodes.time.advance(3000 + TOLERANCE + 100);
    const answer = await waiting;
    if (answer.outcome !== 'granted') throw new Error(answer.reason);
    const waited = answer.permit.grantedAt - START;
    expect(waited).toBeGreaterThanOrEqual(3000);
    expect(answer.remaining).toBe(waited + 2000 - TOLERANCE);
  });

  it('counts by the wall clock, too: while the machine slept the other one stood still', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    onNextWrite(node, (go) => (nodes.time.jumpWall(2000), go()));
    expect(await take(node)).toMatchObject({ remaining: DURATION - TOLERANCE - 2000 });
  });

  it('is zero when the answer of the store came too late: the call gets no permit, and the permit is released', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    onNextWrite(node, async (go) => {
      const done = await go();
      nodes.time.freeze(1600);
      return done;
    });
    expect(await take(node, { duration: 2000 })).toMatchObject({ outcome: 'denied', reason: 'permit-lost' });
    await nodes.time.advance(0);
    expect((await nodes.record()).permits).toEqual([]);
    expect(node.of('granted')).toEqual([]);
  });

  it.each(['refreshed', 'taken again'])(
    'is not reported when it was %s and the wall clock was set meanwhile; its holder may count on a former answer',
    async (how) => {
      const nodes = cluster();
      const node = await nodes.node();
      const permit = await taken(node);
      onNextWrite(node, (go) => (nodes.time.jumpWall(60_000), go()));
      const again = how === 'refreshed' ? partsOf(node.gatekeeper).external.refresh(permit) : take(node);
      expect(await again).toMatchObject({ outcome: 'denied', reason: 'permit-lost' });
      await nodes.time.advance(0);
      expect((await nodes.record()).permits).toMatchObject([{ id: permit.id, token: permit.token }]);
      expect(node.of('released')).toEqual([]);
    },
  );
});

describe('a permit for one who is no node', () => {
  const cluster = useCluster();

  it('is neither refreshed nor taken anew by its holder while it is over but not yet for others', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const permit = await taken(node);
    await nodes.time.advance(DURATION + TOLERANCE - 1);
    const { id } = permit;
    expect(await partsOf(node.gatekeeper).external.refresh(permit)).toMatchObject({ reason: 'permit-lost' });
    expect(await take(node)).toMatchObject({ outcome: 'denied', reason: 'no-permit', holders: [{ id }] });
    await nodes.time.advance(1);
    const next = await take(node);
    expect(next).toMatchObject({ outcome: 'granted', permit: { id: expect.not.stringContaining(id) } });
  });

  it('is a matter of its holder: what another one of the same token has, or had, is none of it', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: [{ ...JOB, permits: 2 }] });
    await taken(node, { duration: 2000 });
    await nodes.time.advance(2100);
    expect(await take(node)).toMatchObject({ reason: 'no-permit' });
    expect(await take(node, { holder: 'other' })).toMatchObject({ outcome: 'granted', permit: { slot: 1 } });
  });

  it('goes to a waiter as soon as a permit that was not released is over', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await taken(one);
    const waiting = take(other, { holder: 'other', wait: 60_000 });
    await nodes.time.advance(DURATION + TOLERANCE - 1);
    expect(await outcomeOf(waiting)).toBe('pending');
    await nodes.time.advance(100);
    expect(await outcomeOf(waiting)).toMatchObject({ value: { outcome: 'granted' } });
  });

  it('that is released counts as released when the answer was lost and another write followed', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const permit = await taken(one);
    onNextWrite(one, async (go) => {
      await go();
      await other.gatekeeper.definitions.edit('job', { permits: 3 });
      throw new UnknownOutcomeError('the connection broke');
    });
    expect(await partsOf(one.gatekeeper).external.release(permit)).toBe(true);
    expect(await partsOf(one.gatekeeper).external.release(permit)).toBe(false);
  });

  it('that is released reaches who waits for it in the node itself', async () => {
    const nodes = cluster();
    const node = await deafNode(nodes);
    const permit = await taken(node);
    const waiting = node.gatekeeper.acquire('job', { timeout: '1h' });
    await nodes.time.advance(0);
    expect(await partsOf(node.gatekeeper).external.release(permit)).toBe(true);
    await nodes.time.advance(0);
    expect(await outcomeOf(waiting)).toMatchObject({ value: { isHeld: true } });
  });

  it('that is released from a given moment on stays taken until then, without a holder', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const permit = await taken(one);
    await nodes.time.advance(1000);
    expect(await partsOf(other.gatekeeper).external.release(permit, { atLeastFor: 4000 })).toBe(true);
    expect(await partsOf(one.gatekeeper).external.release(permit)).toBe(false);
    expect(await partsOf(one.gatekeeper).external.refresh(permit)).toMatchObject({ reason: 'permit-lost' });
    const denied = { outcome: 'denied', reason: 'no-permit' };
    // Its own holder is no exception, and the node that released it may be gone.
    expect(await take(one)).toMatchObject({ ...denied, freeIn: 3000 + TOLERANCE });
    await other.gatekeeper.close();
    await nodes.time.advance(3000 + TOLERANCE - 1);
    expect(await take(one)).toMatchObject(denied);
    await nodes.time.advance(1);
    expect(await take(one)).toMatchObject({ outcome: 'granted' });
  });

  it('that is released not before a moment that is past is free at once', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const permit = await taken(node);
    await nodes.time.advance(4000);
    expect(await partsOf(node.gatekeeper).external.release(permit, { atLeastFor: 4000 })).toBe(true);
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('that is released not before a moment to come, but after its end, leaves a record that can be read', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const permit = await taken(node);
    await nodes.time.advance(DURATION + TOLERANCE - 1);
    expect(await partsOf(node.gatekeeper).external.release(permit, { atLeastFor: 2 * DURATION })).toBe(true);
    expect(await take(await nodes.node())).toMatchObject({ outcome: 'granted' });
  });

  it('tells a denial when enough of the permits are over, at the latest', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: [{ ...JOB, permits: 2 }] });
    await taken(node, { holder: 'a', duration: 4000 });
    await taken(node, { holder: 'b', duration: 3000 });
    expect(await take(node)).toMatchObject({ reason: 'no-permit', freeIn: 3000 + TOLERANCE });
    await node.gatekeeper.definitions.edit('job', { permits: 1 });
    expect(await take(node)).toMatchObject({ freeIn: 4000 + TOLERANCE });
    await node.gatekeeper.definitions.edit('job', { permits: 0 });
    expect(await take(node)).not.toHaveProperty('freeIn');
  });

  it('lasts for the shortest time that this node can tell when its definition says less', async () => {
    const nodes = cluster();
    const other = await nodes.node({ clockTolerance: 10, definitions: [{ ...JOB, duration: 100 }] });
    const node = await nodes.node({ definitions: [] });
    expect(await take(node)).toMatchObject({ outcome: 'granted', remaining: 2 * TOLERANCE + 1 });
    const [overview] = (await node.gatekeeper.overview('job')).semaphores;
    expect(overview!.warnings).toMatchObject([{ code: 'duration-too-short' }]);
    expect((await other.gatekeeper.overview('job')).semaphores[0]!.warnings).toEqual([]);
    const permit = await taken(node);
    await partsOf(node.gatekeeper).external.release(permit);
    expect(await node.gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it('is released when the caller went away while it was granted', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    await expect(take(node, { signal: hangingUp(node) })).rejects.toThrow('hung up');
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('is not taken back once the same name was given it by another node', async () => {
    const nodes = cluster();
    const [node, other] = [await nodes.node(), await nodes.node()];
    onNextWrite(node, async (go) => {
      await go();
      await taken(other);
      return new Promise(() => undefined);
    });
    const taking = take(node).catch((error: Error) => error);
    await nodes.time.advance(2000);
    expect(await taking).toBeInstanceOf(UnknownOutcomeError);
    await nodes.time.advance(1000);
    expect((await nodes.record()).permits).toMatchObject([{ holder: 'script' }]);
  });

  it('stays when its holder went away while it was granted again', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const permit = await taken(node);
    await expect(take(node, { signal: hangingUp(node) })).rejects.toThrow('hung up');
    expect((await nodes.record()).permits).toMatchObject([{ id: permit.id }]);
  });

  it('is taken back when only the word of the one copy that has it is there, and no answer to that', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    onNextWrite(node, async (go) => {
      await go();
      onNextWrite(node, async (confirm) => (await confirm(), new Promise(() => undefined)));
      throw new UnknownOutcomeError('the member died');
    });
    const taking = take(node).catch((error: Error) => error);
    await nodes.time.advance(2000);
    expect(await taking).toBeInstanceOf(UnknownOutcomeError);
    await settled();
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('is taken back when it was found by its name, and asked for again without an answer', async () => {
    const nodes = cluster();
    const definitions = [{ ...JOB, permits: 2 }];
    const [node, other] = [await nodes.node({ definitions }), await nodes.node({ definitions })];
    onNextWrite(node, async (go) => {
      await go();
      await take(other, { holder: 'another' });
      onNextWrite(node, async (again) => (await again(), new Promise(() => undefined)));
      throw new UnknownOutcomeError('the member died');
    });
    const taking = take(node).catch((error: Error) => error);
    await nodes.time.advance(2000);
    expect(await taking).toBeInstanceOf(UnknownOutcomeError);
    await settled();
    expect((await nodes.record()).permits).toMatchObject([{ holder: 'another' }]);
  });

  it('is taken back when the outcome of the grant is unknown', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    onNextWrite(node, async (go) => (await go(), new Promise(() => undefined)));
    const taking = take(node).catch((error: Error) => error);
    await nodes.time.advance(1999);
    expect((await nodes.record()).permits).toHaveLength(1);
    await nodes.time.advance(1);
    expect(await taking).toBeInstanceOf(UnknownOutcomeError);
    await settled();
    expect((await nodes.record()).permits).toEqual([]);
  });
});
