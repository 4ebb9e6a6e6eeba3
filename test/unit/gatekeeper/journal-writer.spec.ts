import { describe, expect, it } from '@jest/globals';
import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { useCluster } from './nodes.js';

const away = () => Promise.reject(new StoreUnavailableError('away'));

describe('what a node writes into a journal', () => {
  const cluster = useCluster();

  it('is gathered for a moment and sent together', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    for (const permits of [2, 3, 4]) await gatekeeper.definitions.edit('job', { permits });
    expect(store.calls.append).toBe(0);
    await nodes.time.advance(100);
    expect(store.calls.append).toBe(1);
    expect(await gatekeeper.audit.read(10)).toHaveLength(3);
    await nodes.time.advance(60_000);
    expect(store.calls.append).toBe(1);
  });

  it('is read once for all who look at the same moment, and anew for whoever looks later', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    const looks = await Promise.all([1, 2, 3].map(() => gatekeeper.audit.read(10)));
    expect(store.calls.readJournal).toBe(1);
    looks[0]!.push(undefined as never);
    expect(looks[1]).toEqual([]);
    await gatekeeper.definitions.edit('job', { permits: 2 });
    await nodes.time.advance(100);
    expect(await gatekeeper.audit.read(10)).toHaveLength(1);
    store.script = away;
    await expect(Promise.all([gatekeeper.audit.read(10), gatekeeper.audit.read(10)])).rejects.toThrow('away');
    store.script = undefined;
    expect(await gatekeeper.audit.read(10)).toHaveLength(1);
  });

  it('waits while the store is away, and is written in order when it is back', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    await gatekeeper.definitions.edit('job', { permits: 2 });
    store.script = (call, go) => (call === 'append' ? away() : go());
    await nodes.time.advance(8000);
    await gatekeeper.definitions.edit('job', { permits: 3 });
    store.script = undefined;
    await nodes.time.advance(10_000);
    expect((await gatekeeper.audit.read(10)).map(({ to }) => to?.permits)).toEqual([2, 3]);
  });

  it('is bounded: the oldest are dropped, and it is told how many once the store is back', async () => {
    const nodes = cluster();
    const { gatekeeper, store, of } = await nodes.node({ history: true });
    store.script = (call, go) => (call === 'append' ? away() : go());
    for (let run = 0; run < 1200; run++) {
      await gatekeeper.run('job', () => 1, { job: `job ${run}` });
      // Some are waiting, some were sent in vain.
      if (run % 500 === 0) await nodes.time.advance(100);
    }
    await nodes.time.advance(5000);
    expect(of('problem')).toEqual([]);
    store.script = undefined;
    await nodes.time.advance(5000);
    const entries = await gatekeeper.history(10_000);
    expect(entries).toHaveLength(1000);
    expect([entries.at(0)!.job, entries.at(-1)!.job]).toEqual(['job 200', 'job 1199']);
    expect(of('problem')).toMatchObject([
      {
        action: 'write the journal of runs',
        error: { message: '200 entries were dropped while the store could not be asked' },
      },
    ]);
  });

  it('is bounded also while what was sent hangs: the newest are kept', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node({ history: true });
    const run = async (from: number, to: number) => {
      for (let job = from; job < to; job++) await gatekeeper.run('job', () => 1, { job: `job ${job}` });
    };
    store.script = (call, go) => (call === 'append' ? new Promise(() => undefined) : go());
    await run(0, 500);
    await nodes.time.advance(100);
    await run(500, 1300);
    await nodes.time.advance(2000);
    store.script = undefined;
    await nodes.time.advance(5000);
    const entries = await gatekeeper.history(10_000);
    expect([entries.length, entries.at(0)!.job, entries.at(-1)!.job]).toEqual([1000, 'job 300', 'job 1299']);
  });

  it('that hangs is given up and sent again', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    await gatekeeper.definitions.edit('job', { permits: 2 });
    store.script = (call, go) => (call === 'append' ? new Promise(() => undefined) : go());
    await nodes.time.advance(100);
    store.script = undefined;
    await nodes.time.advance(2000 + 5000);
    expect(await gatekeeper.audit.read(10)).toHaveLength(1);
  });

  it('is sent when the node closes, and told when that fails', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.definitions.edit('job', { permits: 2 });
    await one.gatekeeper.close();
    expect(await other.gatekeeper.audit.read(10)).toHaveLength(1);
    await other.gatekeeper.definitions.edit('job', { permits: 3 });
    other.store.script = (call, go) => (call === 'append' ? away() : go());
    const timers = nodes.time.pending;
    await other.gatekeeper.close();
    expect(other.of('problem')).toMatchObject([{ action: 'write 1 entries of audit', error: { message: 'away' } }]);
    expect(nodes.time.pending).toBeLessThan(timers);
  });

  it('is read without what is no entry', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    await gatekeeper.definitions.edit('job', { permits: 2 });
    await nodes.time.advance(100);
    await nodes.raw.journal('audit').append(['garbage', '7', 'null', '{"action":"edit"}', '']);
    expect(await gatekeeper.audit.read(10)).toMatchObject([{ action: 'edit', to: { permits: 2 } }]);
  });

  it('can not be read while the store is away', async () => {
    const { gatekeeper, store } = await cluster().node();
    store.script = away;
    await expect(gatekeeper.audit.read(10)).rejects.toThrow(StoreUnavailableError);
    await expect(gatekeeper.history(10)).rejects.toThrow(StoreUnavailableError);
  });
});
