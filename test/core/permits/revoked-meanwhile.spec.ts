import { settled } from '../../support/fake-time.js';
import { JOB, useCluster } from '../../support/nodes.js';

describe('a permit that another node took away', () => {
  const cluster = useCluster();

  it('ends as soon as this node reads its record for another call, though no hint arrives', async () => {
    const nodes = cluster();
    const definitions = [{ ...JOB, permits: 3 }];
    const [one, other] = [await nodes.node({ definitions }), await nodes.node({ definitions })];
    const permit = (await one.gatekeeper.tryAcquire('job', { holder: 'first' }))!;
    const { signal } = permit;
    one.store.isDeaf = true;
    await other.gatekeeper.definitions.revoke('job', permit.id);
    await settled();
    expect(signal.aborted).toBe(false);
    await one.gatekeeper.tryAcquire('job', { holder: 'second' });
    await settled();
    expect(signal.aborted).toBe(true);
    expect(one.of('lost')).toMatchObject([{ permit: { id: permit.id }, reason: 'revoked' }]);
  });
});
