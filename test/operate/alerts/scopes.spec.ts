import { partsOf } from '../../../lib/gatekeeper/parts.js';
import { eventually } from '../../contract/eventually.js';
import { useCluster } from '../../support/nodes.js';
import { Receiver } from './receiver.js';

const leaderless = (scope: string) => `scope "${scope}" has had no leader`;

describe('alerts about leadership', () => {
  const newCluster = useCluster();

  it('tell of each scope without a leader, and of its end, from one node each', async () => {
    await using receiver = await Receiver.start();
    const cluster = newCluster();
    const alerts = { webhooks: [receiver.webhook] };
    const nodes = [await cluster.node({ alerts }), await cluster.node({ alerts })];
    const faults = ['eu', 'us'].map((subject) => ({
      subject,
      since: cluster.time.monotonic(),
      sentence: leaderless(subject),
    }));
    for (const { gatekeeper } of nodes)
      Object.defineProperty(partsOf(gatekeeper).leaderWatch, 'faults', { get: () => [...faults] });
    await cluster.time.advance(30_000);
    const messages = () =>
      receiver.alerts.map(({ kind, status, sentence }) => `${kind} ${status} ${sentence}`).toSorted();
    const firing = ['eu', 'us'].map((scope) => `no-leader firing ${leaderless(scope)}`);
    await eventually('both scopes', () => receiver.alerts.length === 2);
    expect(messages()).toEqual(firing);
    expect(new Set(receiver.alerts.map(({ id }) => id)).size).toBe(2);

    faults.pop();
    await cluster.time.advance(30_000);
    await eventually('one end', () => receiver.alerts.length === 3);
    expect(messages()).toEqual([...firing, `no-leader resolved ${leaderless('us')}`]);
  });
});
