import { type Gatekeeper, StoreUnavailableError } from 'nestjs-gatekeeper';
import { useCluster } from '../../support/nodes.js';

const away = () => Promise.reject(new StoreUnavailableError('away'));

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

/** Notes changes whose reasons count up. */
function note(gatekeeper: Gatekeeper, from: number, count: number, semaphore = 'job'): void {
  for (const number of numbers(from, from + count)) {
    gatekeeper.audit.note({ action: 'edit', semaphore, by: 'ann', reason: String(number) });
  }
}

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

  it.each([-1, 1.5, NaN, '50', undefined])('is not read without a number of entries: %p', async (limit) => {
    const { gatekeeper, store } = await cluster().node();
    for (const read of [gatekeeper.audit.read(limit as number), gatekeeper.history(limit as number)]) {
      await expect(read).rejects.toThrow(/limit: .* is no number of entries/);
    }
    expect(store.calls.readJournal).toBe(0);
  });

  it('is read once for all readers of the same moment, and again for a later reader', async () => {
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

  it.each(['that answers at once', 'that takes a second for each answer'])(
    'is kept and written whole when 5,000 come within a second, with a store %s',
    async (speed) => {
      const nodes = cluster();
      const { gatekeeper, store, of } = await nodes.node();
      if (speed !== 'that answers at once') {
        store.script = async (call, go) => {
          if (call === 'append') await new Promise<void>((resolve) => nodes.time.schedule(resolve, 1000));
          return go();
        };
      }
      for (let tenth = 0; tenth < 10; tenth++) {
        note(gatekeeper, tenth * 500, 500);
        await nodes.time.advance(100);
      }
      await nodes.time.advance(30_000);
      expect((await gatekeeper.audit.read(10_000)).map(({ reason }) => Number(reason))).toEqual(numbers(0, 5000));
      expect(of('problem')).toEqual([]);
    },
  );

  it('is written whole when 5,000 come in one turn, and no call brings the store more than 500', async () => {
    const nodes = cluster();
    const { gatekeeper, store, of } = await nodes.node();
    note(gatekeeper, 0, 5000);
    await nodes.time.advance(100);
    expect((await gatekeeper.audit.read(10_000)).map(({ reason }) => Number(reason))).toEqual(numbers(0, 5000));
    expect([store.calls.append, of('problem')]).toEqual([10, []]);
  });

  it('is not sent again and again while the store is away, however much comes', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    store.script = (call, go) => (call === 'append' ? away() : go());
    note(gatekeeper, 0, 600);
    await nodes.time.advance(100);
    note(gatekeeper, 600, 600);
    await nodes.time.advance(4000);
    expect(store.calls.append).toBe(1);
  });

  it('is bounded: the oldest are dropped, and the node reports how many once the store is back', async () => {
    const nodes = cluster();
    const { gatekeeper, store, of } = await nodes.node();
    store.script = (call, go) => (call === 'append' ? away() : go());
    note(gatekeeper, 0, 700);
    await nodes.time.advance(100);
    note(gatekeeper, 700, 9500);
    await nodes.time.advance(5000);
    expect(of('problem')).toEqual([]);
    store.script = undefined;
    await nodes.time.advance(5000);
    expect((await gatekeeper.audit.read(10_000)).map(({ reason }) => Number(reason))).toEqual(numbers(200, 10_200));
    expect(of('problem')).toMatchObject([
      {
        action: 'write the journal of audit',
        error: { message: '200 entries got lost while the store could not be asked' },
      },
    ]);
  });

  it('is bounded also while what was sent hangs: the newest are kept', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    store.script = (call, go) => (call === 'append' ? new Promise(() => undefined) : go());
    note(gatekeeper, 0, 500);
    await nodes.time.advance(100);
    note(gatekeeper, 500, 9800);
    await nodes.time.advance(2000);
    store.script = undefined;
    await nodes.time.advance(5000);
    expect((await gatekeeper.audit.read(10_000)).map(({ reason }) => Number(reason))).toEqual(numbers(300, 10_300));
  });

  it('is bounded in size, too', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    store.script = (call, go) => (call === 'append' ? away() : go());
    const longest = 'x'.repeat(8000);
    for (let count = 0; count < 1200; count++) note(gatekeeper, count, 1, longest);
    await nodes.time.advance(100);
    store.script = undefined;
    await nodes.time.advance(10_000);
    const texts = await nodes.raw.journal('audit').read(10_000);
    expect(texts.join('').length).toBeGreaterThan(7 * 1024 * 1024);
    expect(texts.join('').length).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect(texts.at(-1)).toContain('"reason":"1199"');
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
    expect(other.of('problem')).toMatchObject([
      { action: 'write 1 entry of the journal of audit', error: { message: 'away' } },
    ]);
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
