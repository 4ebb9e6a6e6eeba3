import { CannotLeadError, InvalidOptionsError, StoreUnavailableError, UnknownSemaphoreError } from 'nestjs-gatekeeper';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { type TestNode, openEnd, outcomeOf, useCluster } from '../support/nodes.js';
import {
  REST,
  TOLERANCE,
  candidate,
  candidates,
  cutOff,
  heard,
  instanceOf,
  leads,
  scopeOf,
  untilLed,
} from './candidates.js';

const newCluster = useCluster();
const NAME = 'leader:default';
const OPERATOR = { by: 'ann', reason: 'app1 is slow' };
const handoversOf = ({ gatekeeper }: TestNode) => partsOf(gatekeeper).handovers;

describe('an operator, through a node that takes no part,', () => {
  it('asks the leader to step down: another node leads in a moment, after the work of the term', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 3);
    const outsider = await cluster.node();
    const log = heard(nodes[0]!);
    const { token } = scopeOf(nodes[0]!).term!;
    const { work, end } = openEnd();
    void scopeOf(nodes[0]!).lead(work);
    await cluster.time.advance(100);
    expect(await handoversOf(outsider).stepDown('default', OPERATOR)).toBe(true);
    await cluster.time.advance(500);
    expect([log, nodes.some((node) => leads(node))]).toEqual([[`-${token}`], false]);
    end();
    expect(await untilLed(cluster, nodes, 1000)).toBeLessThan(200);
    expect(leads(nodes[0]!)).toBe(false);
    expect(await cluster.record(NAME)).not.toHaveProperty('preference');
  });

  it('asks the only node to step down: it leads again after six seconds', async () => {
    const cluster = newCluster();
    const [node] = await candidates(cluster, 1);
    await handoversOf(node!).stepDown('default');
    await cluster.time.advance(REST - 200);
    expect(leads(node!)).toBe(false);
    expect(await untilLed(cluster, [node!], 2000)).toBeLessThan(200 + TOLERANCE + 1000);
  });

  it('transfers the leadership to a node', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 4);
    const outsider = await cluster.node();
    expect(await handoversOf(outsider).transfer('default', instanceOf(nodes[2]!), OPERATOR)).toBe(true);
    expect(await untilLed(cluster, nodes.slice(1), 1000)).toBeLessThan(200);
    expect(leads(nodes[2]!)).toBe(true);
  });

  it('leaves who, why and which term in the audit log', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const { token } = scopeOf(nodes[0]!).term!;
    const target = instanceOf(nodes[0]!);
    await handoversOf(nodes[1]!).stepDown('default', OPERATOR);
    await untilLed(cluster, nodes.slice(1), 1000);
    await handoversOf(nodes[1]!).transfer('default', target, { by: 'ben' });
    expect(nodes[1]!.of('audited').map(({ entry }) => entry)).toMatchObject([
      { action: 'step-down', semaphore: NAME, ...OPERATOR, permit: { token, instance: target } },
      { action: 'transfer', semaphore: NAME, by: 'ben', target: { instance: target, acquirer: 'app1' } },
    ]);
  });

  it('changes nothing where there is nothing to change', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const before = scopeOf(nodes[0]!).term;
    expect(await handoversOf(nodes[1]!).transfer('default', instanceOf(nodes[0]!))).toBe(false);
    expect(scopeOf(nodes[0]!).term).toBe(before);
    await nodes[0]!.gatekeeper.definitions.pause(NAME);
    await cluster.time.advance(200);
    expect(await handoversOf(nodes[1]!).stepDown('default')).toBe(false);
    expect(nodes[1]!.of('audited')).toEqual([]);
  });

  it.each([
    ['that is gone', async () => 'app-7', 'it is no living participant'],
    ['of another scope only', (_: TestNode, other: TestNode) => instanceOf(other), 'does not take part in this scope'],
    ['that the patterns exclude', (node: TestNode) => instanceOf(node), 'its acquirer does not match'],
  ])('can not transfer to a node %s', async (_, targetOf, why) => {
    const cluster = newCluster();
    const [leader, excluded] = await candidates(cluster, 2);
    const other = await candidate(cluster, { leadership: { scopes: ['reports'] } });
    await leader!.gatekeeper.definitions.edit(NAME, { acquirerPattern: 'app1' });
    const transfer = handoversOf(other).transfer('default', await targetOf(excluded!, other));
    await expect(transfer).rejects.toThrow(CannotLeadError);
    await expect(transfer).rejects.toThrow(why);
    expect(leads(leader!)).toBe(true);
  });

  it('gets an error for a scope that does not exist, for a bad reason, and without the store', async () => {
    const cluster = newCluster();
    const [node] = await candidates(cluster, 1);
    const handovers = handoversOf(node!);
    await expect(handovers.stepDown('nothing')).rejects.toThrow(UnknownSemaphoreError);
    await expect((async () => handovers.stepDown('default', { reason: 'two\nlines' }))()).rejects.toThrow(
      InvalidOptionsError,
    );
    cutOff(node!);
    const asked = handovers.transfer('default', instanceOf(node!));
    asked.catch(() => undefined);
    await cluster.time.advance(10_000);
    expect(await outcomeOf(asked)).toMatchObject({ error: expect.any(StoreUnavailableError) });
  });
});

describe('the history of a scope', () => {
  it('says of each term why it ended, also of a leader that crashed', async () => {
    const cluster = newCluster();
    const first = await candidate(cluster, { history: true });
    const next = await candidate(cluster, { history: true });
    const tokens = [scopeOf(first).term!.token];
    await handoversOf(next).stepDown('default');
    await untilLed(cluster, [first, next], 1000);
    tokens.push(scopeOf(next).term!.token);
    cutOff(next);
    await untilLed(cluster, [first], 15_000);
    await cluster.time.advance(1000);
    const entries = await first.gatekeeper.history(10);
    const terms = entries.filter(({ job }) => job === 'leadership');
    expect(terms).toMatchObject([
      { token: tokens[0], outcome: 'ok', ended: 'other-preferred', node: { acquirer: 'app1' } },
      { token: tokens[1], outcome: 'lost', ended: 'expired', node: { acquirer: 'app2' }, took: expect.any(Number) },
    ]);
  });
});
