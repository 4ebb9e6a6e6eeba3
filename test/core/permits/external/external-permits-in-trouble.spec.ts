import { type ClockReading, StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { onNextWrite } from '../../../support/scripted-store.js';
import { settled } from '../../../support/fake-time.js';
import { outcomeOf, useCluster } from '../../../support/nodes.js';
import { DURATION, TOLERANCE, deafNode, take, taken } from '../../../support/external-client.js';
import { partsOf } from '../../../../lib/gatekeeper/parts.js';

describe('a permit for one who is no node, when the store lost its data', () => {
  const cluster = useCluster();

  it('goes on with the same token by a node that knew it', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const permit = await taken(node);
    await nodes.time.advance(1000);
    await nodes.overwrite(undefined);
    const { id, token } = permit;
    expect(await partsOf(node.gatekeeper).external.refresh(permit)).toMatchObject({
      outcome: 'granted',
      remaining: DURATION - TOLERANCE,
      permit: { id, token, slot: 0 },
    });
    expect(await node.gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'recovering' });
  });

  it('is not granted to a new holder, with the reason; a waiter gets it when the grace is over', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    await nodes.overwrite(undefined);
    expect(await take(node)).toMatchObject({ outcome: 'denied', reason: 'recovering' });
    const waiting = take(node, { wait: 60_000 });
    await nodes.time.advance(DURATION + TOLERANCE - 1);
    expect(await outcomeOf(waiting)).toBe('pending');
    await nodes.time.advance(5000);
    expect(await outcomeOf(waiting)).toMatchObject({ value: { outcome: 'granted' } });
  });

  it('is called lost by a node that never heard of it only after the grace: another one may know it', async () => {
    const nodes = cluster();
    const [knowing, other] = [await nodes.node(), await nodes.node()];
    const permit = await taken(knowing);
    await knowing.gatekeeper.close();
    await nodes.overwrite(undefined);
    const refresh = () => partsOf(other.gatekeeper).external.refresh(permit);
    expect(await refresh()).toMatchObject({ outcome: 'denied', reason: 'recovering' });
    await nodes.time.advance(DURATION + TOLERANCE - 1);
    expect(await refresh()).toMatchObject({ outcome: 'denied', reason: 'recovering' });
    await nodes.time.advance(1);
    expect(await refresh()).toMatchObject({ outcome: 'denied', reason: 'permit-lost' });
    expect(await take(other)).toMatchObject({ outcome: 'granted' });
  });

  it('comes back when the node that knew it hears of the loss', async () => {
    const nodes = cluster();
    const [knowing, other] = [await nodes.node(), await nodes.node()];
    const permit = await taken(knowing);
    await nodes.overwrite(undefined);
    expect(await knowing.gatekeeper.run('job', () => 1)).toMatchObject({ executed: false });
    await settled();
    const { id, token } = permit;
    expect(await partsOf(other.gatekeeper).external.refresh(permit)).toMatchObject({ permit: { id, token } });
  });

  it('does not come back to who asks for one anew: it may have been given back, and granted on', async () => {
    const nodes = cluster();
    const behind = await deafNode(nodes);
    const other = await nodes.node();
    const former = await taken(behind);
    await partsOf(other.gatekeeper).external.release(former);
    const permit = (await other.gatekeeper.tryAcquire('job'))!;
    await nodes.overwrite(undefined);
    expect(await take(behind)).toMatchObject({ outcome: 'denied', reason: 'recovering' });
    await nodes.time.advance(5000);
    await permit.extend();
    expect((await nodes.record()).permits.map(({ id }) => id)).toEqual([permit.id]);
  });
});

describe('a permit for one who is no node, when the clocks of the members are wrong', () => {
  const cluster = useCluster();

  it('is not made shorter by a refresh after a jump ahead than what its holder counts on who never hears of it', async () => {
    const nodes = cluster();
    const [node, other] = [await nodes.node(), await nodes.node()];
    const permit = await taken(node, { duration: 60_000 });
    for (const { store } of [node, other]) {
      store.script = async (call, go) => {
        const answer = await go();
        return call === 'now' ? { ...(answer as ClockReading), time: (answer as ClockReading).time + 40_000 } : answer;
      };
    }
    await nodes.time.advance(11_000);
    // For 10 s, as the definition says; suppose that the holder never hears of this.
    await partsOf(node.gatekeeper).external.refresh(permit);
    await nodes.time.advance(60_000 - 11_000 - TOLERANCE);
    expect(await take(other, { holder: 'other' })).toMatchObject({ outcome: 'denied', reason: 'no-permit' });
  });

  it('stays over once it is, also by a node that saw it late while the members differ', async () => {
    const nodes = cluster();
    const [node, late] = [await nodes.node(), await deafNode(nodes)];
    for (const { store } of [node, late]) {
      let turn = 0;
      store.script = async (call, go) => {
        if (call !== 'now') return go();
        const { time } = (await go()) as ClockReading;
        return turn++ % 2 === 0 ? { time, member: 'one' } : { time: time + 3000, member: 'two' };
      };
    }
    await nodes.time.advance(10_000);
    const permit = await taken(node);
    await nodes.time.advance(5000);
    expect(await take(late, { holder: 'other' })).toMatchObject({ reason: 'no-permit' });
    // It was stamped by the member that is ahead.
    await nodes.time.advance(DURATION + 3000 - 5000);
    for (const { gatekeeper } of [node, late]) {
      expect(await partsOf(gatekeeper).external.refresh(permit)).toMatchObject({ reason: 'permit-lost' });
    }
  });
});

describe('a client that gave up and asked another node', () => {
  const cluster = useCluster();

  it('keeps the permit that it got there, when the first node learns that its write was applied', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const gone = new AbortController();
    let again: unknown;
    onNextWrite(one.store, async (go) => {
      await go();
      gone.abort(new Error('gone'));
      again = await take(other);
      throw new UnknownOutcomeError('the connection broke');
    });
    await expect(take(one, { signal: gone.signal })).rejects.toThrow('gone');
    await nodes.time.advance(500);
    expect(again).toMatchObject({ outcome: 'granted' });
    expect((await nodes.record()).permits).toHaveLength(1);
  });

  it('leaves no permit behind where it got none', async () => {
    const nodes = cluster();
    const { store, ...node } = await nodes.node();
    const gone = new AbortController();
    onNextWrite(store, async (go) => {
      await go();
      gone.abort(new Error('gone'));
      throw new UnknownOutcomeError('the connection broke');
    });
    await expect(take({ store, ...node }, { signal: gone.signal })).rejects.toThrow('gone');
    expect((await nodes.record()).permits).toEqual([]);
  });
});

describe('a permit for one who is no node that was stamped by a clock that is ahead', () => {
  const cluster = useCluster();

  it('is over when its holder can no longer count on it, however far ahead it ends', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const { external } = partsOf(node.gatekeeper);
    const permit = await taken(node);
    const record = await nodes.record();
    const permits = record.permits.map((each) => ({ ...each, expiresAt: each.expiresAt + 100_000 }));
    await nodes.overwrite(JSON.stringify({ ...record, permits, nonce: 'ahead', seq: record.seq + 1 }));
    expect(await external.refresh(permit)).toMatchObject({ outcome: 'granted', permit: { duration: DURATION } });
    await nodes.time.advance(DURATION);
    expect(await external.refresh(permit)).toMatchObject({ reason: 'permit-lost' });
  });
});

describe('a permit for one who is no node, when the store can not be asked', () => {
  const cluster = useCluster();
  const away = () => Promise.reject(new StoreUnavailableError('away'));

  it('is neither taken, refreshed, released nor waited for; it goes on when the store is back in time', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const { external } = partsOf(node.gatekeeper);
    const permit = await taken(node);
    const waiting = take(node, { holder: 'other', wait: 60_000 }).catch((error: Error) => error);
    await nodes.time.advance(0);
    node.store.script = away;
    await expect(take(node)).rejects.toThrow(StoreUnavailableError);
    await expect(external.refresh(permit)).rejects.toThrow(StoreUnavailableError);
    await expect(external.release(permit)).rejects.toThrow(StoreUnavailableError);
    await nodes.time.advance(5100);
    expect(await waiting).toBeInstanceOf(StoreUnavailableError);
    expect(external.waiting).toBe(0);
    node.store.script = undefined;
    const { token } = permit;
    expect(await external.refresh(permit)).toMatchObject({ outcome: 'granted', permit: { token } });
  });

  it('is over by itself when the store is back too late', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const permit = await taken(node);
    node.store.script = away;
    await nodes.time.advance(DURATION + TOLERANCE);
    node.store.script = undefined;
    expect(await partsOf(node.gatekeeper).external.refresh(permit)).toMatchObject({ reason: 'permit-lost' });
    expect(await take(node, { holder: 'other' })).toMatchObject({ outcome: 'granted' });
  });
});
