import { CannotLeadError, StoreUnavailableError } from 'nestjs-gatekeeper';
import { openEnd, outcomeOf, useCluster } from '../support/nodes.js';
import { removed } from '../support/removed.js';
import { onNextWrite } from '../support/scripted-store.js';
import {
  GRACE,
  LEASE,
  REST,
  TOLERANCE,
  candidate,
  candidates,
  cutOff,
  definitionsOf,
  heard,
  instanceOf,
  leadersOf,
  leads,
  scopeOf,
  untilLed,
} from './candidates.js';

const newCluster = useCluster();
const NAME = 'leader:default';

describe('resign()', () => {
  it('makes another node the leader in a moment', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 3);
    expect(await scopeOf(nodes[0]!).resign()).toBe(true);
    expect(leads(nodes[0]!)).toBe(false);
    expect(await untilLed(cluster, nodes, 1000)).toBeLessThan(200);
    expect(leads(nodes[0]!)).toBe(false);
  });

  it('lets others go first even if they missed the hint', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    nodes[1]!.store.isDeaf = true;
    await scopeOf(nodes[0]!).resign();
    await untilLed(cluster, nodes, REST);
    expect(leads(nodes[1]!)).toBe(true);
  });

  it('of the only node ends after six seconds', async () => {
    const cluster = newCluster();
    const [node] = await candidates(cluster, 1);
    await scopeOf(node!).resign();
    await cluster.time.advance(REST - 100);
    expect(leads(node!)).toBe(false);
    await cluster.time.advance(300);
    expect(leads(node!)).toBe(true);
  });

  it('says false where this node does not lead', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    expect(await scopeOf(nodes[1]!).resign()).toBe(false);
    expect(leads(nodes[0]!)).toBe(true);
  });

  it('in the work of the term does not wait for that work', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const resigned: boolean[] = [];
    void scopeOf(nodes[0]!).lead(async () => void resigned.push(await scopeOf(nodes[0]!).resign()));
    expect(await untilLed(cluster, nodes.slice(1), 1000)).toBeLessThan(200);
    expect(resigned).toEqual([true]);
  });
});

describe('transferTo()', () => {
  it.each([
    ['the leader', 0],
    ['another node', 1],
  ])('called on %s makes the named node the next leader', async (_on, caller) => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 4);
    await nodes[caller]!.gatekeeper.cluster.transferTo(instanceOf(nodes[3]!));
    expect(await untilLed(cluster, nodes.slice(1), 1000)).toBeLessThan(200);
    expect(leadersOf(nodes)).toEqual([nodes[3]]);
    // The preference went with the grant: the record has no trace of it, and the next handover is free.
    expect(await cluster.record(NAME)).not.toHaveProperty('preference');
  });

  it('names a node that rests: it leads at once', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    await scopeOf(nodes[0]!).resign();
    await cluster.time.advance(200);
    expect(leads(nodes[1]!)).toBe(true);
    await nodes[1]!.gatekeeper.cluster.transferTo(instanceOf(nodes[0]!));
    expect(await untilLed(cluster, nodes, 1000)).toBeLessThan(200);
    expect(leads(nodes[0]!)).toBe(true);
  });

  it('leaves the others awake: when the target resigns soon, one of them leads in a moment', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 3);
    await nodes[0]!.gatekeeper.cluster.transferTo(instanceOf(nodes[2]!));
    await untilLed(cluster, nodes, 1000);
    await cluster.time.advance(50);
    await scopeOf(nodes[2]!).resign();
    expect(await untilLed(cluster, nodes, 2000)).toBeLessThan(200);
  });

  it('gives the permit back even if a write fails meanwhile', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const { work, end } = openEnd();
    void scopeOf(nodes[0]!).lead(work);
    const transferring = nodes[0]!.gatekeeper.cluster.transferTo(instanceOf(nodes[1]!));
    await cluster.time.advance(100);
    onNextWrite(nodes[0]!.store, () => Promise.reject(new StoreUnavailableError('no member answers')));
    end();
    expect(await untilLed(cluster, nodes.slice(1), 1000)).toBeLessThan(200);
    await transferring;
    expect(nodes[0]!.of('problem')).toMatchObject([{ action: 'shorten the preference' }]);
  });

  it('to the leader changes nothing', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const { term } = scopeOf(nodes[0]!);
    await nodes[1]!.gatekeeper.cluster.transferTo(instanceOf(nodes[0]!));
    await cluster.time.advance(1000);
    expect(scopeOf(nodes[0]!).term).toBe(term);
  });

  it('of a leader without contact to itself changes nothing, and comes to its end', async () => {
    const cluster = newCluster();
    const [leader] = await candidates(cluster, 2);
    leader!.store.report = { ...leader!.store.health(), connected: false };
    const transferring = leader!.gatekeeper.cluster.transferTo(instanceOf(leader!));
    await cluster.time.advance(1000);
    expect(await outcomeOf(transferring)).toEqual({ value: undefined });
    delete leader!.store.report;
    expect(leads(leader!)).toBe(true);
  });

  it('to a dead node that still counts as living lets any node lead after six seconds', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 3);
    cutOff(nodes[2]!);
    await nodes[0]!.gatekeeper.cluster.transferTo(instanceOf(nodes[2]!));
    const others = nodes.slice(0, 2);
    const took = await untilLed(cluster, others, REST + TOLERANCE + 2000);
    expect(took).toBeGreaterThan(REST - 100);
  });

  it('to a node that is gone, or to none, is an error and changes nothing', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 3);
    const gone = nodes[2]!;
    const closing = gone.gatekeeper.close();
    await cluster.time.advance(2000);
    await closing;
    const { cluster: own } = nodes[0]!.gatekeeper;
    await expect(own.transferTo(instanceOf(gone))).rejects.toThrow(CannotLeadError);
    await expect(own.transferTo('app-7')).rejects.toThrow(
      `the leadership of scope "default" can't go to node "app-7": `,
    );
    expect(leads(nodes[0]!)).toBe(true);
  });

  it('to a node that the patterns exclude is an error', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    await definitionsOf(nodes[0]!).edit(NAME, { acquirerPattern: 'app1' });
    await expect(nodes[0]!.gatekeeper.cluster.transferTo(instanceOf(nodes[1]!))).rejects.toMatchObject({
      code: 'cannot-lead',
      node: instanceOf(nodes[1]!),
    });
  });
});

describe('an operator', () => {
  it('pauses a scope: the leader stops in a moment, and the scope has a leader again after the pause', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const log = heard(nodes[0]!);
    const { token } = scopeOf(nodes[0]!).term!;
    await definitionsOf(nodes[1]!).pause(NAME, { by: 'ann' });
    await cluster.time.advance(100);
    expect(leadersOf(nodes)).toEqual([]);
    expect(log).toEqual([`-${token}`]);
    expect((await cluster.record(NAME)).permits).toEqual([]);
    await cluster.time.advance(2 * LEASE);
    expect(leadersOf(nodes)).toEqual([]);
    await definitionsOf(nodes[1]!).resume(NAME);
    expect(await untilLed(cluster, nodes, 2000)).toBeLessThan(200);
  });

  it('confines a scope by patterns: it moves to a node that matches', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 3);
    await definitionsOf(nodes[0]!).edit(NAME, { acquirerPattern: 'app3' });
    expect(await untilLed(cluster, nodes.slice(1), 6000)).toBeLessThan(200);
    expect(leadersOf(nodes)).toEqual([nodes[2]]);
  });

  it('revokes the permit: another node leads', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const [permit] = (await cluster.record(NAME)).permits;
    await definitionsOf(nodes[1]!).revoke(NAME, permit!.id);
    await untilLed(cluster, nodes, 2000);
    await cluster.time.advance(200);
    expect(leadersOf(nodes)).toEqual([nodes[1]]);
  });

  it('switches a scope off with 0 permits, but cannot give it two leaders', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    await expect(definitionsOf(nodes[0]!).edit(NAME, { permits: 2 })).rejects.toThrow(
      'permits: 2 would give the scope 2 leaders: give 1, or 0 for none',
    );
    await definitionsOf(nodes[0]!).edit(NAME, { permits: 0 });
    await cluster.time.advance(200);
    expect(leadersOf(nodes)).toEqual([]);
  });

  it('removes a scope: no node leads until it is reset', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    await removed(nodes[0]!.gatekeeper, NAME);
    await cluster.time.advance(2000);
    expect(leadersOf(nodes)).toEqual([]);
    await definitionsOf(nodes[0]!).reset(NAME);
    await untilLed(cluster, nodes, REST + 2000);
  });
});

describe('the shutdown of a node', () => {
  it('that leads makes another one the leader in a moment', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const log = heard(nodes[0]!);
    const { token } = scopeOf(nodes[0]!).term!;
    const closing = nodes[0]!.gatekeeper.close();
    expect(leads(nodes[0]!)).toBe(false);
    expect(await untilLed(cluster, nodes, 1000)).toBeLessThan(200);
    expect(log).toEqual([`-${token}`]);
    await cluster.time.advance(1000);
    await closing;
  });

  it('that waits, rests, has not begun, or is cut off ends in time', async () => {
    const cluster = newCluster();
    const [leader, waiting] = await candidates(cluster, 2);
    const idle = await cluster.node({ leadership: {} });
    const resting = await candidate(cluster, { leadership: { scopes: ['other'] } });
    await scopeOf(resting).resign();
    cutOff(leader!);
    for (const { gatekeeper } of [waiting!, idle, resting, leader!]) {
      const closing = gatekeeper.close();
      await cluster.time.advance(GRACE + 3000);
      expect(await outcomeOf(closing)).toEqual({ value: undefined });
    }
    expect(cluster.time.pending).toBe(0);
  });

  it('rejects what waits for the leadership', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const waiting = scopeOf(nodes[1]!)
      .whenLeader()
      .catch((error: unknown) => error);
    const leading = scopeOf(nodes[1]!).lead(() => undefined);
    const closing = nodes[1]!.gatekeeper.close();
    await cluster.time.advance(1000);
    await closing;
    expect(await waiting).toMatchObject({ code: 'not-leader', reason: 'closing' });
    expect(await outcomeOf(leading)).toEqual({ value: undefined });
    await expect(scopeOf(nodes[1]!).whenLeader()).rejects.toMatchObject({ code: 'not-leader' });
  });
});
