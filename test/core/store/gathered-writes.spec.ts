import { GatheredWrites, type TextWrite } from '../../../lib/core/store/gathered-writes.js';

/** A call that is under way. */
interface Call {
  readonly keys: readonly string[];
  answer(answers: readonly boolean[]): void;
  fail(error: Error): void;
}

describe('writes that are gathered', () => {
  let calls: Call[];
  let gathered: GatheredWrites;

  const send = (writes: readonly TextWrite[]) =>
    new Promise<readonly boolean[]>((answer, fail) => {
      calls.push({ keys: writes.map(({ key }) => key), answer, fail });
    });
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const write = (key: string, next = 'text') => gathered.write({ key, next });
  const sent = () => calls.map(({ keys }) => keys);

  beforeEach(() => {
    calls = [];
    gathered = new GatheredWrites(send, { calls: 2, writes: 3 });
  });

  it('go together when they come in one turn, and each gets its own answer', async () => {
    const outcomes = Promise.all([write('a'), write('b'), write('c')]);
    await turn();
    expect(sent()).toEqual([['a', 'b', 'c']]);
    calls[0]!.answer([true, false, true]);
    expect(await outcomes).toEqual([true, false, true]);
  });

  it('wait for a call under way only when there are as many as may be', async () => {
    const outcomes = [write('a')];
    await turn();
    outcomes.push(write('b'));
    await turn();
    outcomes.push(write('c'));
    await turn();
    outcomes.push(write('d'));
    await turn();
    expect(sent()).toEqual([['a'], ['b']]);
    calls[1]!.answer([true]);
    await outcomes[1];
    await turn();
    expect(sent()).toEqual([['a'], ['b'], ['c', 'd']]);
  });

  it('go in the next call when a call has enough of them', async () => {
    for (const key of ['a', 'b', 'c', 'd']) void write(key);
    await turn();
    expect(sent()).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('go in the next call when the texts of a call are large enough', async () => {
    void write('a', 'x'.repeat(100_000));
    void write('b');
    await turn();
    expect(sent()).toEqual([['a'], ['b']]);
  });

  it('never have the key of another write of their call, and keep their order', async () => {
    gathered = new GatheredWrites(send, { calls: 1, writes: 3 });
    const outcomes = [write('a', '1'), write('a', '2'), write('b'), write('a', '3')];
    const order: number[] = [];
    outcomes.forEach((outcome, index) => void outcome.then(() => order.push(index)));
    for (let call = 0; call < 3; call++) {
      await turn();
      calls[call]!.answer(calls[call]!.keys.map(() => true));
      await turn();
    }
    expect(sent()).toEqual([['a'], ['a', 'b'], ['a']]);
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('are divided over as many calls as shall be under way, as soon as there are enough for that', async () => {
    gathered = new GatheredWrites(send, { calls: Infinity, writes: 10, parts: 2 });
    const writeMany = (count: number) => Promise.all(Array.from({ length: count }, (_, at) => write(`key-${at}`)));
    const sizes = () => calls.splice(0).map(({ keys, answer }) => (answer(keys.map(() => true)), keys.length));
    for (const [count, expected] of [
      [5, [4, 1]],
      [16, [4, 5, 7]], // it is not known yet how many there are
      [16, [8, 8]],
      [30, [8, 9, 10, 3]],
      [30, [10, 10, 10]], // no call has more
      [1, [1]],
    ] as const) {
      const outcomes = writeMany(count);
      await turn();
      expect(sizes()).toEqual(expected);
      await outcomes;
    }
  });

  it('count those that are under way when they are divided', async () => {
    gathered = new GatheredWrites(send, { calls: Infinity, writes: 10, parts: 2 });
    for (let at = 0; at < 12; at++) void write(`one-${at}`);
    await turn();
    calls.length = 0;
    for (let at = 0; at < 8; at++) void write(`other-${at}`);
    await turn();
    expect(calls.map(({ keys }) => keys.length)).toEqual([8]);
  });

  it('all fail with the error of their call, and later ones are sent', async () => {
    const outcomes = Promise.allSettled([write('a'), write('b')]);
    await turn();
    const error = new Error('no answer');
    calls[0]!.fail(error);
    expect((await outcomes).map((each) => (each as PromiseRejectedResult).reason as Error)).toEqual([error, error]);
    const next = write('c');
    await turn();
    calls[1]!.answer([true]);
    expect(await next).toBe(true);
  });
});
