import { StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { TextCells } from '../../../lib/core/cell/text-cells.js';
import type { TextCollection } from '../../../lib/core/store/index.js';
import { partsOf } from '../../../lib/gatekeeper/index.js';
import { useCluster } from '../../support/nodes.js';
import { interceptWrites } from '../../support/writes.js';

const KEY = 'mail:x';
/** Writes the first text, and says with what it is asked about another one. */
const create = (text: string | undefined, isUncertain: boolean) =>
  text === undefined ? { write: 'own', done: () => ['written'] } : { result: [text, isUncertain] };
const away = () => Promise.reject(new StoreUnavailableError('away'));

/** Reads fail from now on, until the returned function is called. */
function loseReadsOf(texts: TextCollection): () => void {
  const read = texts.read.bind(texts);
  texts.read = away;
  return () => void (texts.read = read);
}

describe('a text of which a node remembers nothing', () => {
  const cluster = useCluster();

  async function start() {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    const { context } = partsOf(gatekeeper);
    const { tasks } = store;
    const loseReads = () => loseReadsOf(tasks);
    return { nodes, tasks, loseReads, texts: new TextCells(context.store.tasks, context), context };
  }

  it('may have been written if a `false` was followed by no look for a while: another node may have written since', async () => {
    const { nodes, tasks, loseReads, texts } = await start();
    let findReads!: () => void;
    const letThrough = interceptWrites(tasks, 'create', async (go) => {
      letThrough();
      await go();
      findReads = loseReads();
      return false;
    });
    const writing = texts.change<unknown[]>(KEY, create, { known: { text: undefined } });
    await nodes.time.advance(300);
    await tasks.compareAndSet(KEY, 'own', "another node's");
    findReads();
    await nodes.time.advance(500);
    expect(await writing).toEqual(["another node's", true]);
  });

  it('was surely not written if a look right after the `false` finds another one', async () => {
    const { tasks, texts } = await start();
    await tasks.compareAndSet(KEY, undefined, "another node's");
    expect(await texts.change<unknown[]>(KEY, create, { known: { text: undefined } })).toEqual([
      "another node's",
      false,
    ]);
  });

  it('is not written any more when the time of the call is over', async () => {
    const { nodes, tasks, texts, context } = await start();
    const sent: number[] = [];
    const begun = context.nodeClock.monotonic();
    interceptWrites(tasks, 'create', () => {
      sent.push(context.nodeClock.monotonic() - begun);
      return Promise.reject(new UnknownOutcomeError('no answer'));
    });
    const writing = texts.write(KEY, undefined, 'own').catch((error: unknown) => error);
    await nodes.time.advance(context.timing.callTimeout + 1000);
    expect(await writing).toBeInstanceOf(UnknownOutcomeError);
    expect(sent.length).toBeGreaterThan(3);
    expect(Math.max(...sent)).toBeLessThan(context.timing.callTimeout);
  });

  it('is changed by a rule, which is asked again with what another node wrote', async () => {
    const { tasks, texts } = await start();
    await tasks.compareAndSet(KEY, undefined, 'a');
    const asked: (string | undefined)[] = [];
    const changed = texts.change(KEY, async (text) => {
      asked.push(text);
      if (asked.length === 1) await tasks.compareAndSet(KEY, 'a', 'ab');
      return text === 'abc' ? { result: 'stays' } : { write: `${text}c`, done: () => 'written' };
    });
    expect(await changed).toBe('written');
    expect(asked).toEqual(['a', 'ab']);
    expect(await tasks.read(KEY)).toBe('abc');
    expect(
      await texts.change(KEY, (text) => (text === 'abc' ? { result: 'stays' } : { write: '', done: () => '' })),
    ).toBe('stays');
  });

  it('may have been changed if an earlier write was unclear, although the last one was surely not applied', async () => {
    const { nodes, tasks, texts } = await start();
    const other = nodes.raw.tasks;
    await other.compareAndSet(KEY, undefined, '0');
    let writes = 0;
    interceptWrites(tasks, 'replace', async (go, { next }) => {
      if (++writes > 1) throw new StoreUnavailableError('away');
      await go();
      await other.compareAndSet(KEY, next, `${next} and another node's`);
      throw new UnknownOutcomeError('no answer');
    });
    const changing = texts
      .change(KEY, (text) => ({ write: `${text} own`, done: () => 'written' }))
      .catch((error: unknown) => error);
    await nodes.time.advance(5000);
    expect(await changing).toBeInstanceOf(UnknownOutcomeError);
    expect(writes).toBeGreaterThan(1);
  });

  it('was surely not changed if the last write was not applied, and all others had lost to other nodes', async () => {
    const { nodes, tasks, texts } = await start();
    const other = nodes.raw.tasks;
    await other.compareAndSet(KEY, undefined, '0');
    let writes = 0;
    interceptWrites(tasks, 'replace', async (go, { expected }) => {
      if (++writes > 1) throw new StoreUnavailableError('away');
      await other.compareAndSet(KEY, expected, "another node's");
      return go();
    });
    const changing = texts.change(KEY, (text) => ({ write: `${text} own`, done: () => 'written' }));
    await expect(changing).rejects.toThrow(StoreUnavailableError);
    expect(writes).toBe(2);
  });

  it('is changed after a pause if other nodes were faster more than once', async () => {
    const { nodes, tasks, texts, context } = await start();
    const other = nodes.raw.tasks;
    await other.compareAndSet(KEY, undefined, '0');
    const begun = context.nodeClock.monotonic();
    const tries: { readonly after: number; readonly from: string | undefined }[] = [];
    interceptWrites(tasks, 'replace', async (go, { expected }) => {
      tries.push({ after: context.nodeClock.monotonic() - begun, from: expected });
      if (tries.length <= 4) await other.compareAndSet(KEY, expected, String(tries.length));
      return go();
    });
    const changing = texts.change(KEY, (text) => ({ write: `${text} own`, done: () => 'written' }));
    await nodes.time.advance(1000);
    expect(await changing).toBe('written');
    expect(tries.map(({ from }) => from)).toEqual(['0', '1', '2', '3', '4']);
    expect(tries.slice(0, 2).map(({ after }) => after)).toEqual([0, 0]);
    expect(tries.at(-1)!.after).toBeGreaterThan(0);
  });

  it('is read again if its rule has changed it by a call of its own', async () => {
    const { tasks, texts } = await start();
    const asked: (string | undefined)[] = [];
    const changing = texts.change(KEY, async (text) => {
      asked.push(text);
      if (text !== undefined) return { result: text };
      await tasks.compareAndSet(KEY, undefined, 'by the rule');
      return { isChanged: true };
    });
    expect(await changing).toBe('by the rule');
    expect(asked).toEqual([undefined, 'by the rule']);
  });

  it('is written without a read if it is known, and read after that if it was another one', async () => {
    const { tasks, texts } = await start();
    let reads = 0;
    const read = tasks.read.bind(tasks);
    tasks.read = (key) => (reads++, read(key));
    const add = (word: string) =>
      texts.change(KEY, (text = '') => ({ write: text + word, done: () => reads }), { known: { text: undefined } });
    expect(await add('a')).toBe(0);
    expect(await add('b')).toBe(1);
    expect(await read(KEY)).toBe('ab');
  });

  it('is sent again as long as the patience lasts, and the rule hears that it may have been written before', async () => {
    const { nodes, tasks, texts, context } = await start();
    const other = nodes.raw.tasks;
    await other.compareAndSet(KEY, undefined, '0');
    const { callTimeout } = context.timing;
    const findReads = loseReadsOf(tasks);
    const letThrough = interceptWrites(tasks, 'replace', async (go, { next }) => {
      letThrough();
      await go();
      await other.compareAndSet(KEY, next, `${next}, changed since`);
      throw new UnknownOutcomeError('no answer');
    });
    const changing = texts.change(
      KEY,
      (text, isUncertain) => (text === '0' ? { write: 'own', done: () => [] } : { result: [text, isUncertain] }),
      { known: { text: '0' }, patience: 3 * callTimeout },
    );
    await nodes.time.advance(2 * callTimeout);
    findReads();
    await nodes.time.advance(callTimeout);
    expect(await changing).toEqual(['own, changed since', true]);
  });
});
