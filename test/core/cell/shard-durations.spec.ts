import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { outcomeOf, shardKeyOf, useCluster } from '../../support/nodes.js';
import { takeOutside } from '../../support/shards.js';

const SHORT = { duration: '10s' };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SWEEP = 12_500;

describe('the cap on durations', () => {
  const cluster = useCluster();

  it('holds for a node that requires definitions, too', async () => {
    const nodes = cluster();
    const node = await nodes.node({ requireDefinitions: true });
    await node.gatekeeper.definitions.define({ name: 'x', duration: '30s' });
    await expect(node.gatekeeper.tryAcquire('x', { duration: '1h' })).rejects.toThrow(InvalidOptionsError);
  });

  it('holds for external clients, too', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    await node.gatekeeper.definitions.define({ name: 'x', duration: '30s' });
    await expect(takeOutside(node, 'x', HOUR)).rejects.toThrow(InvalidOptionsError);
  });

  it('is what keeps a name from two holders after the loss of a shard', async () => {
    const nodes = cluster();
    const node = await nodes.node({ requireDefinitions: true });
    await node.gatekeeper.definitions.define({ name: 'x', duration: '30s' });
    const first = await takeOutside(node, 'x', HOUR).catch(() => undefined);
    await node.gatekeeper.close();
    nodes.lose(shardKeyOf('x'));
    const fresh = await nodes.node();
    await nodes.time.advance(16 * 60_000);
    const second = await fresh.gatekeeper.tryAcquire('x', SHORT);
    expect([first?.outcome === 'granted', second !== undefined]).not.toEqual([true, true]);
  });
});

describe('a name that code defines with a long duration', () => {
  const cluster = useCluster();

  it('is granted for as long as the call asks right after the birth of a cluster', async () => {
    const nodes = cluster();
    const node = nodes.unstarted({ definitions: [{ name: 'long', duration: '2h' }], definitionsDelay: '5s' });
    await node.gatekeeper.start();
    const taking = node.gatekeeper.tryAcquire('long', { duration: '1h' });
    await nodes.time.advance(SWEEP);
    expect(await outcomeOf(taking)).toMatchObject({ value: { isHeld: true } });
  });

  it('is denied, not refused as too long, while another node holds it on demand', async () => {
    const nodes = cluster();
    const other = await nodes.node();
    await other.gatekeeper.tryAcquire('long', { duration: '20s', keepAlive: true });
    const node = await nodes.node({ definitions: [{ name: 'long', duration: '2h' }] });
    expect(await node.gatekeeper.tryAcquire('long', { duration: '1h' })).toBeUndefined();
  });
});
