import { settled } from '../../support/fake-time.js';
import { JOB, openEnd, useCluster } from '../../support/nodes.js';

describe('the sweep', () => {
  const cluster = useCluster();

  it('frees the permits of a node that died', async () => {
    const nodes = cluster();
    const [dead, other] = [await nodes.node(), await nodes.node()];
    const permit = (await dead.gatekeeper.tryAcquire('job'))!;
    dead.store.script = () => new Promise(() => undefined);
    // Seen by the first sweep, because a grant notifies no node; over by the node's own count at the third.
    await nodes.time.advance(34_000);
    expect((await nodes.record()).permits).toEqual([]);
    expect(other.of('expired')).toMatchObject([{ semaphore: 'job', permits: [{ id: permit.id, acquirer: 'app1' }] }]);
    expect(other.log).toContainEqual('debug "job": slot 0 of app1 expired');
  });

  it('frees also what it never heard of', async () => {
    const nodes = cluster();
    const dead = await nodes.node({ definitions: [{ ...JOB, name: 'unheard of' }] });
    await dead.gatekeeper.tryAcquire('unheard of');
    dead.store.script = () => new Promise(() => undefined);
    await nodes.node();
    await nodes.time.advance(34_000);
    expect((await nodes.record('unheard of')).permits).toEqual([]);
  });

  it('frees nothing that is still alive', async () => {
    const nodes = cluster();
    const [one] = [await nodes.node(), await nodes.node()];
    const { work, end } = openEnd();
    const running = one.gatekeeper.run('job', work);
    await nodes.time.advance(60_000);
    expect((await nodes.record()).permits).toHaveLength(1);
    end();
    await running;
  });

  it('looks after all records though one has a name that nothing can have', async () => {
    const nodes = cluster();
    const [dead, other] = [await nodes.node(), await nodes.node()];
    await dead.gatekeeper.tryAcquire('job');
    dead.store.script = () => new Promise(() => undefined);
    await nodes.overwrite('text', '');
    await nodes.time.advance(34_000);
    expect((await nodes.record()).permits).toEqual([]);
    expect(other.of('expired')).toHaveLength(1);
  });
});

describe('a record that the store lost', () => {
  const cluster = useCluster();

  it('is restored by a node that knew it, with a grace in which no new holder gets a permit', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await nodes.node();
    await nodes.overwrite(undefined);
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'recovering' });
    expect(of('restored')).toEqual([{ type: 'restored', semaphore: 'job', revision: 1 }]);
    expect(await nodes.record()).toMatchObject({ grace: expect.anything(), definition: { name: 'job' } });
    await nodes.time.advance(10_600);
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: true, value: 1 });
  });

  it('shows in the health of each node that sees it, until its grace is over', async () => {
    const nodes = cluster();
    const [restoring, hearing] = [await nodes.node(), await nodes.node()];
    const codes = ({ gatekeeper }: typeof restoring) => gatekeeper.health().faults.map(({ code }) => code);
    await hearing.gatekeeper.explain('job');
    await nodes.overwrite(undefined);
    await restoring.gatekeeper.run('job', () => 1);
    await hearing.gatekeeper.explain('job');
    const late = await nodes.node();
    await late.gatekeeper.explain('job');
    for (const each of [restoring, hearing, late]) {
      const { status, faults } = each.gatekeeper.health();
      expect([status, faults]).toEqual([
        'degraded',
        [expect.objectContaining({ code: 'recovering', stopsGrants: false })],
      ]);
      expect(faults[0]!.sentence).toMatch(
        /^the store lost data, or may have: only former holders of "job" go on, until 20.* UTC at the latest$/,
      );
    }
    await nodes.time.advance(10_600);
    for (const each of [restoring, hearing, late]) expect(codes(each)).toEqual([]);
  });

  it('lets the holder go on with the same permit', async () => {
    const nodes = cluster();
    const [holder, other] = [await nodes.node(), await nodes.node()];
    const { work, end } = openEnd();
    let held!: { token: number; isHeld: boolean };
    const running = holder.gatekeeper.run('job', (permit) => ((held = permit), work()));
    await settled();
    const { token } = held;
    await nodes.overwrite(undefined);
    expect(await other.gatekeeper.run('job', () => 1)).toMatchObject({ executed: false });
    await nodes.time.advance(30_000);
    expect(held).toMatchObject({ isHeld: true, token });
    expect(await other.gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'no-permit' });
    end();
    await running;
  });

  it('is restored by the sweep without a call', async () => {
    const nodes = cluster();
    const { of } = await nodes.node();
    await nodes.overwrite(undefined);
    await nodes.time.advance(12_000);
    expect(of('restored')).toHaveLength(1);
  });

  it('is not what an old text that someone put back makes of it', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const old = JSON.stringify(await nodes.record());
    const permit = (await gatekeeper.tryAcquire('job'))!;
    await permit.release();
    await nodes.overwrite(old);
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'recovering' });
    await nodes.time.advance(10_600);
    expect((await gatekeeper.tryAcquire('job'))!.token).toBeGreaterThan(permit.token);
  });

  it('never lets a token repeat, also when every node forgot', async () => {
    const nodes = cluster();
    const before = await nodes.node();
    const { token } = (await before.gatekeeper.tryAcquire('job'))!;
    const closing = before.gatekeeper.close();
    await nodes.time.advance(11_000);
    await closing;
    await nodes.overwrite(undefined);
    const after = await nodes.node();
    // The shard of its name still says that it had a record: it comes back with a grace.
    expect(await after.gatekeeper.tryAcquire('job')).toBeUndefined();
    await nodes.time.advance(10_600);
    expect((await after.gatekeeper.tryAcquire('job'))!.token).toBeGreaterThan(token);
  });
});

describe.each([
  ['corrupt', 'corrupt-record', 'not JSON {'],
  ['of another shape', 'corrupt-record', '{"v":1,"permits":"all"}'],
  ['of a newer version', 'newer-record', '{"v":99}'],
])('a record that is %s', (_, reason, text) => {
  const cluster = useCluster();

  it('denies, and is kept as it is', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    await nodes.overwrite(text);
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason });
    await expect(gatekeeper.tryAcquire('job')).rejects.toMatchObject({ code: reason });
    await expect(gatekeeper.definitions.edit('job', { permits: 2 })).rejects.toMatchObject({ code: reason });
    await nodes.time.advance(60_000);
    expect(await nodes.raw.records.read('semaphore:job')).toBe(text);
  });

  it('denies a node that never saw it otherwise, too', async () => {
    const nodes = cluster();
    await nodes.overwrite(text);
    const { gatekeeper } = await nodes.node();
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason });
    expect(await nodes.raw.records.read('semaphore:job')).toBe(text);
  });

  it('is reported by one clear error, for any number of calls', async () => {
    const nodes = cluster();
    await nodes.overwrite(text);
    const { gatekeeper, of, log } = await nodes.node();
    for (let turn = 0; turn < 5; turn++) await gatekeeper.run('job', () => 1);
    await nodes.time.advance(60_000);
    expect(of('record-unreadable')).toMatchObject([{ semaphore: 'job', error: { code: reason } }]);
    expect(log.filter((line) => !line.startsWith('debug'))).toEqual([
      expect.stringMatching(/^error the record of semaphore "job" .*(repaired or reset|upgrade this node)/),
    ]);
  });

  it('does not enable onUnavailable: run', async () => {
    const nodes = cluster();
    await nodes.overwrite(text);
    const { gatekeeper } = await nodes.node();
    expect(await gatekeeper.run('job', () => 1, { onUnavailable: 'run' })).toEqual({ executed: false, reason });
  });

  it('works again once it is repaired, and is reported again when it breaks again', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await nodes.node();
    const good = await nodes.raw.records.read('semaphore:job');
    await nodes.overwrite(text);
    await gatekeeper.run('job', () => 1);
    await nodes.overwrite(good);
    expect(await gatekeeper.run('job', () => 1, { atLeastFor: 0 })).toEqual({ executed: true, value: 1 });
    await nodes.overwrite(text);
    await gatekeeper.run('job', () => 1);
    expect(of('record-unreadable')).toHaveLength(2);
  });

  it('shows in the state and its dump', async () => {
    const nodes = cluster();
    await nodes.overwrite(text);
    const { gatekeeper, log } = await nodes.node({ stateDump: '10s' });
    expect((await gatekeeper.state()).semaphores).toMatchObject([{ name: 'job', problem: expect.any(String) }]);
    await nodes.time.advance(11_500);
    expect(log).toContainEqual(expect.stringMatching(/^log state semaphore=job problem="/));
  });
});
