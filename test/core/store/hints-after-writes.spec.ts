import { setImmediate as turn } from 'node:timers/promises';
import { HintsAfterWrites } from '../../../lib/core/store/hints-after-writes.js';

const CALL_TIMEOUT = 1000;

/** Hints of a queue, whose calls are held back until each is let go on. */
function heldQueue(callTimeout = CALL_TIMEOUT) {
  const held: (() => void)[] = [];
  const calls: (readonly string[])[] = [];
  const offer = async (hints: readonly string[]) => {
    calls.push(hints);
    await new Promise<void>((done) => held.push(done));
  };
  const hints = new HintsAfterWrites(() => ({ offer }), callTimeout);
  /** Writes with a hint, and tells when the write has ended. */
  const write = (hint: string, isWritten = true) => {
    const state: { answer?: boolean } = {};
    void hints.follow(Promise.resolve(isWritten), { queue: 'mail', hint }).then((answer) => (state.answer = answer));
    return state;
  };
  return { hints, calls, write, letGo: () => held.shift()!() };
}

it('a write waits for its hint, but not for one that has to wait for another', async () => {
  const { calls, write, letGo } = heldQueue();
  const [first, second] = [write('1'), write('2')];
  await turn();
  const third = write('3');
  await turn();
  expect([first, second, third].map(({ answer }) => answer)).toEqual([undefined, undefined, true]);
  letGo();
  await turn();
  expect([first, second].map(({ answer }) => answer)).toEqual([true, true]);
  letGo();
  // The others go together.
  expect(calls).toEqual([['1', '2'], ['3']]);
});

it('a write that was refused has no hint, and one that failed keeps its error', async () => {
  const { hints, calls, write } = heldQueue();
  const refused = write('never', false);
  const failure = new Error('no answer');
  await expect(hints.follow(Promise.reject(failure), { queue: 'mail', hint: 'never' })).rejects.toBe(failure);
  expect(refused.answer).toBe(false);
  expect(calls).toEqual([]);
});

it('writes go no faster than the store: with 256 hints unsent they wait', async () => {
  const { write, letGo } = heldQueue();
  write('first');
  await turn();
  const others = Array.from({ length: 300 }, (_, number) => write(`other-${number}`));
  await turn();
  const ended = () => others.filter(({ answer }) => answer).length;
  // The first one is unsent, too.
  expect(ended()).toBe(255);
  letGo();
  await turn();
  letGo();
  await turn();
  expect(ended()).toBe(300);
});

it('a hint that fails, or does not end, is no failure of its write', async () => {
  const offer = jest.fn(() => Promise.reject(new Error('refused')));
  const lost: unknown[] = [];
  const failing = new HintsAfterWrites(
    () => ({ offer }),
    CALL_TIMEOUT,
    (error) => lost.push(error),
  );
  await expect(failing.follow(Promise.resolve(true), { queue: 'mail', hint: '1' })).resolves.toBe(true);
  expect(offer).toHaveBeenCalledTimes(1);
  expect(lost).toEqual([new Error('refused')]);
  const silent = heldQueue(20);
  await expect(silent.hints.follow(Promise.resolve(true), { queue: 'mail', hint: '1' })).resolves.toBe(true);
});

it('keeps a bounded number of hints while the store takes none, and goes on when it does', async () => {
  const { hints, calls, write, letGo } = heldQueue(40);
  const writes = Array.from({ length: 1000 }, (_, number) => write(`${number}`));
  await turn();
  for (let number = 0; number < 1000; number++) writes.push(write(`later ${number}`));
  await hints.close(CALL_TIMEOUT);
  expect(writes.every(({ answer }) => answer)).toBe(true);
  expect(calls.flat().length).toBeLessThanOrEqual(512);
  write('after');
  await turn();
  expect(calls.at(-1)).toEqual(['after']);
  letGo();
});

it('a late answer of a write leaves its hint no time: the caller must learn in time that it is made', async () => {
  const { hints, letGo } = heldQueue(40);
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, 30, true));
  const answer = hints.follow(late, { queue: 'mail', hint: '1' });
  await late;
  await turn();
  // The hint is still under way.
  await expect(Promise.race([answer, turn('waits')])).resolves.toBe(true);
  letGo();
});

it('waits until the hints that are left were sent', async () => {
  const { hints, write, letGo } = heldQueue();
  write('first');
  await turn();
  write('second');
  await turn();
  let isSent = false;
  const sent = hints.close(CALL_TIMEOUT).then(() => (isSent = true));
  letGo();
  await turn();
  expect(isSent).toBe(false);
  letGo();
  await sent;
});

it('sends large hints in several calls', async () => {
  const { calls, write, letGo } = heldQueue();
  const large = 'x'.repeat(1024 * 1024);
  write('first');
  await turn();
  for (const end of ['1', '2', '3']) write(large + end);
  letGo();
  for (let call = 0; call < 3; call++) {
    await turn();
    letGo();
  }
  await turn();
  expect(calls.map((hints) => hints.length)).toEqual([1, 1, 1, 1]);
});
