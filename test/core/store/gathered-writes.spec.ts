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

  it('are sent at once when no call is under way', async () => {
    const outcome = write('a');
    expect(sent()).toEqual([['a']]);
    calls[0]!.answer([true]);
    expect(await outcome).toBe(true);
    void write('b');
    expect(sent()).toEqual([['a'], ['b']]);
  });

  it('go together when they come in one turn while a call is under way, and each gets its own answer', async () => {
    void write('under way');
    const outcomes = Promise.all([write('a'), write('b'), write('c')]);
    await turn();
    expect(sent()).toEqual([['under way'], ['a', 'b', 'c']]);
    calls[1]!.answer([true, false, true]);
    expect(await outcomes).toEqual([true, false, true]);
  });

  it('do not overtake those that wait when the last call ends', async () => {
    gathered = new GatheredWrites(send, { calls: 1, writes: 3 });
    const outcome = write('a', '1');
    void write('a', '2');
    calls[0]!.answer([true]);
    await outcome;
    void write('a', '3');
    await turn();
    expect(sent()).toEqual([['a'], ['a']]);
    calls[1]!.answer([true]);
    await turn();
    await turn();
    expect(sent()).toEqual([['a'], ['a'], ['a']]);
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
    gathered = new GatheredWrites(send, { calls: 3, writes: 3 });
    for (const key of ['under way', 'a', 'b', 'c', 'd']) void write(key);
    await turn();
    expect(sent()).toEqual([['under way'], ['a', 'b', 'c'], ['d']]);
  });

  it('go in the next call when the texts of a call are large enough', async () => {
    gathered = new GatheredWrites(send, { calls: 3, writes: 3 });
    void write('under way');
    void write('a', 'x'.repeat(100_000));
    void write('b');
    await turn();
    expect(sent()).toEqual([['under way'], ['a'], ['b']]);
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
    // The first one goes at once, alone.
    for (const [count, expected] of [
      [6, [1, 4, 1]],
      [17, [1, 4, 6, 6]], // it is not known yet how many there are
      [17, [1, 9, 7]],
      [31, [1, 9, 10, 10, 1]],
      [31, [1, 10, 10, 10]], // no call has more
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
    void write('under way');
    const outcomes = Promise.allSettled([write('a'), write('b')]);
    await turn();
    const error = new Error('no answer');
    calls[1]!.fail(error);
    expect((await outcomes).map((each) => (each as PromiseRejectedResult).reason as Error)).toEqual([error, error]);
    const next = write('c');
    await turn();
    calls[2]!.answer([true]);
    expect(await next).toBe(true);
  });
});
