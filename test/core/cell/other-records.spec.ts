import { UnknownOutcomeError, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import type { View } from '../../../lib/core/decision/index.js';
import { type Context, createContext } from '../../../lib/core/context/context.js';
import { Cell } from '../../../lib/core/cell/cell.js';
import type { RecordCodec, StoredRecord } from '../../../lib/core/cell/record-codec.js';
import { FakeTime } from '../../support/fake-time.js';
import { type ScriptedStore, onNextWrite, scripted } from '../../support/scripted-store.js';

interface Page extends StoredRecord {
  readonly entries: readonly string[];
  readonly recovering?: true;
}

const next = (page: Page | undefined, changes: Partial<Page>, { now }: View, nonce: string): Page => ({
  entries: [],
  ...page,
  ...changes,
  nonce,
  seq: (page?.seq ?? 0) + 1,
  at: now,
});

/** Pages of entries: as unlike a semaphore as a record can be. */
const PAGES: RecordCodec<Page> = {
  kind: 'page',
  keyPrefix: 'page:',
  decode: (_, text) => JSON.parse(text) as Page,
  encode: (page) => JSON.stringify(page),
  isBehind: (page, furthest) => page.seq < furthest.seq,
  restore: (furthest, found, view, nonce) =>
    next({ ...furthest, seq: Math.max(furthest.seq, found?.seq ?? 0) }, { recovering: true }, view, nonce),
  rewrite: (page, view, nonce) => next(page, {}, view, nonce),
  leases: () => [],
};

interface World {
  readonly time: FakeTime;
  readonly store: ScriptedStore;
  readonly context: Context;
  readonly client: Cell<Page>;
}

function world(): World {
  const time = new FakeTime();
  const { store, definition } = scripted(memory({ clock: time.cluster }));
  const context = createContext(parseGatekeeperOptions({ store: definition }), {
    node: { group: 'g', acquirer: 'a', instance: 'i' },
    nodeClock: time,
    random: { id: () => `id-${Math.random()}`, instance: () => 'i', number: () => 0.5 },
    isClosing: () => false,
    grantFault: () => undefined,
  });
  return { time, store, context, client: new Cell('one', PAGES, context) };
}

const add = (client: Cell<Page>, entry: string): Promise<string> =>
  client.transact((page, view, nonce) => ({
    write: next(page, { entries: [...(page?.entries ?? []), entry] }, view, nonce),
    done: () => `added ${entry}`,
    isDoneIn: (later) => later?.entries.includes(entry) === true,
  }));

const stored = async (store: ScriptedStore): Promise<Page> =>
  JSON.parse((await store.records.read('page:one'))!) as Page;

/** Why the node does not trust the clocks, in a list that grows. */
function suspicionsIn({ events }: Context): string[] {
  const reasons: string[] = [];
  events.subscribe((event) => event.type === 'clock-suspect' && reasons.push(event.reason));
  return reasons;
}

describe('a record of another kind than a semaphore', () => {
  it('stands under its own keys, and is changed from the text last seen in one round trip', async () => {
    const { store, client } = world();
    await add(client, 'a');
    const calls = { ...store.calls };
    expect(await add(client, 'b')).toBe('added b');
    expect(store.calls).toEqual({ ...calls, compareAndSet: calls.compareAndSet + 1 });
    expect(await stored(store)).toMatchObject({ entries: ['a', 'b'], seq: 2 });
  });

  it('is written once when the answer to its write was lost', async () => {
    const { store, client } = world();
    await add(client, 'a');
    onNextWrite(store, async (go) => {
      await go();
      throw new UnknownOutcomeError('the connection broke');
    });
    expect(await add(client, 'b')).toBe('added b');
    expect((await stored(store)).entries).toEqual(['a', 'b']);
  });

  it('is written once when the answer was lost and another writer wrote over it, where the effect shows', async () => {
    const { store, client } = world();
    await add(client, 'a');
    onNextWrite(store, async (go) => {
      await go();
      const page = await stored(store);
      const later = { ...page, entries: [...page.entries, 'x'], seq: page.seq + 1, nonce: 'of another writer' };
      await store.records.compareAndSet('page:one', JSON.stringify(page), JSON.stringify(later));
      throw new UnknownOutcomeError('the connection broke');
    });
    expect(await add(client, 'b')).toBe('added b');
    expect((await stored(store)).entries).toEqual(['a', 'b', 'x']);
  });

  it('is restored by its own rule when the store lost writes of it, and its listeners hear of that', async () => {
    const { store, client } = world();
    const heard: string[] = [];
    client.listen({ restored: ({ entries }) => void heard.push(`restored ${entries.join()}`) });
    await add(client, 'a');
    const old = await store.records.read('page:one');
    await add(client, 'b');
    await store.records.compareAndSet('page:one', await store.records.read('page:one'), old!);
    expect(await add(client, 'c')).toBe('added c');
    expect(await stored(store)).toMatchObject({ entries: ['a', 'b', 'c'], recovering: true });
    expect(heard).toEqual(['restored a,b']);
  });

  it('makes cluster time suspect when its stamp does not fit', async () => {
    const { time, store, context, client } = world();
    await add(client, 'a');
    const reasons = suspicionsIn(context);
    const page = await stored(store);
    await store.records.compareAndSet(
      'page:one',
      JSON.stringify(page),
      JSON.stringify({ ...page, seq: 2, nonce: 'x', at: page.at + 60_000 }),
    );
    await time.advance(0);
    await client.transact(() => ({ result: undefined }));
    expect(reasons).toHaveLength(1);
  });

  it('makes cluster time suspect when it appeared after a look, and was stamped long before that', async () => {
    const { time, store, context, client } = world();
    await add(client, 'a');
    const reasons = suspicionsIn(context);
    const text = (await store.records.read('page:one'))!;
    await time.advance(20_000);
    await client.look();
    expect(reasons).toEqual([]);
    await store.records.compareAndSet('page:one', text, JSON.stringify({ ...JSON.parse(text), seq: 2, nonce: 'x' }));
    await client.look();
    expect(reasons).toEqual([expect.stringContaining('was stamped')]);
  });

  it('leaves cluster time trusted when a node that was frozen gets all reports of its changes at once', async () => {
    const { time, store, context, client } = world();
    await add(client, 'a');
    const reasons = suspicionsIn(context);
    const first = (await store.records.read('page:one'))!;
    const later = Array.from({ length: 5 }, (_, index) => {
      const page = JSON.parse(first) as StoredRecord;
      return JSON.stringify({ ...page, seq: page.seq + 1 + index, at: page.at + 2000 * index, nonce: `n${index}` });
    });
    await store.records.compareAndSet('page:one', first, later.at(-1)!);
    time.freeze(10_000);
    expect([first, ...later].map((text) => client.observe(text))).toEqual([true, true, true, true, true, true]);
    await client.look();
    expect(reasons).toEqual([]);
  });

  it('names its kind where the store gives no answer', async () => {
    const { time, store, client } = world();
    await add(client, 'a');
    store.script = () => new Promise(() => undefined);
    const adding = add(client, 'b').catch((error: Error) => error.message);
    await time.advance(10_000);
    expect(await adding).toMatch(/^page "one": the store gave no clear answer/);
  });
});
