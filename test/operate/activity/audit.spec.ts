import { START } from '../../support/fake-time.js';
import { JOB, useCluster } from '../../support/nodes.js';

describe('the audit log', () => {
  const cluster = useCluster();

  it('has an entry for each change: who, when, why, through which node, and what was before and after', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const { definitions } = one.gatekeeper;
    const by = { by: 'ann' };
    await definitions.define({ name: 'new', duration: '10s' }, { ...by, reason: 'first' });
    await definitions.edit('new', { permits: 2 }, by);
    await definitions.pause('new', by);
    await definitions.resume('new', by);
    await definitions.migrate({ names: 'new', to: { groupPattern: 'dr|default' } }, by);
    const { id } = (await other.gatekeeper.tryAcquire('new'))!;
    await nodes.time.advance(1000);
    await definitions.revoke('new', id, by);
    await definitions.remove('new', by);
    await nodes.time.advance(100);
    const entries = await other.gatekeeper.audit.read(100);
    const common = { semaphore: 'new', by: 'ann', node: one.gatekeeper.node };
    expect(entries.map((entry) => [entry.action, entry.revision, entry.from?.permits, entry.to?.permits])).toEqual([
      ['define', 1, undefined, 1],
      ['edit', 2, 1, 2],
      ['pause', 3, 2, 2],
      ['resume', 4, 2, 2],
      ['migrate', 5, 2, 2],
      ['revoke', undefined, undefined, undefined],
      ['remove', 6, 2, undefined],
    ]);
    for (const entry of entries) expect(entry).toMatchObject(common);
    expect(entries[0]).toMatchObject({ at: START, reason: 'first' });
    expect(entries[2]!.to).toMatchObject({ groupPattern: '.*' }); // the intended pattern, not the one of the pause
    expect(entries[5]).toMatchObject({ at: START + 1000, permit: { id, acquirer: 'app2', slot: 0 } });
    expect(one.of('audited').map(({ entry }) => entry)).toEqual(entries);
    expect(other.of('audited')).toEqual([]);
  });

  it('stands in full in the log of the application, a line for each change, with all values quoted', async () => {
    const nodes = cluster();
    const { gatekeeper, log } = await nodes.node();
    const reason = 'a \u2028 b';
    await gatekeeper.definitions.pause('job', { by: 'ann "the op"', reason });
    await gatekeeper.definitions.resume('job', { by: 'ann' });
    await nodes.time.advance(100);
    const lines = log.filter((line) => line.startsWith('log audit: '));
    expect(lines.map((line) => JSON.parse(line.slice('log audit: '.length)))).toEqual(await gatekeeper.audit.read(10));
    expect(lines[0]).toContain(String.raw`"by":"ann \"the op\"","reason":"a \u2028 b"`);
  });

  it('has none for what changed nothing, was refused, or came from code', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const { definitions } = gatekeeper;
    await definitions.resume('job');
    await definitions.edit('job', { permits: -1 }).catch(() => undefined);
    await definitions.edit('job', { permits: 2 }, { expectedRevision: 7 }).catch(() => undefined);
    await definitions.remove('typo');
    await definitions.migrate({ to: { groupPattern: '.*' } });
    await nodes.time.advance(10_000);
    expect(await gatekeeper.audit.read(100)).toEqual([]);
  });

  it('gives the newest, oldest first', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    for (const permits of [2, 3, 4, 5]) await gatekeeper.definitions.edit('job', { permits });
    await nodes.time.advance(100);
    expect((await gatekeeper.audit.read(2)).map(({ to }) => to?.permits)).toEqual([4, 5]);
  });

  it('outlives the node through which a change came', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node({ definitions: [JOB] })];
    await one.gatekeeper.definitions.pause('job', { by: 'ann' });
    await one.gatekeeper.close();
    expect(await other.gatekeeper.audit.read(10)).toMatchObject([{ action: 'pause', by: 'ann' }]);
  });
});
