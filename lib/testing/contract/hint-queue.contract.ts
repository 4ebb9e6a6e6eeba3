import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { GatekeeperError } from '../../core/decision/gatekeeper.error.js';
import type { HintQueue, QueuedHint } from '../../core/store/driver.js';
import { assertEnds } from './assertions.js';
import { AWKWARD_TEXTS } from './awkward-texts.js';
import { eventually } from './eventually.js';
import type { StoreClients } from './store-clients.js';
import type { ContractTests } from './test-runner.js';

/** Longer than any poll of these tests may wait, in ms: each ends by something else. */
const FOR_EVER = 60_000;
/** ms within which a poll ends that has no reason to wait any more. */
const SOON = 2000;
/** ms within which a poll that waits gets a hint, also if a message was lost. */
const LATE = 8000;
const never = () => new AbortController().signal;

/** Contract of {@link HintQueue}, and of `WriteOptions.hint`. */
export function describeQueueContract({ describe, it }: ContractTests, clients: StoreClients): void {
  /** One queue, as both clients see it. */
  const newQueue = (name = randomUUID()): [HintQueue, HintQueue] => [
    clients.one.queue(name),
    clients.other.queue(name),
  ];
  const all = async (queue: HintQueue) => {
    const hints: string[] = [];
    for (let some = await queue.drain(100); some.length > 0; some = await queue.drain(100)) hints.push(...some);
    return hints;
  };

  describe('a queue of hints', () => {
    it('is first in, first out, whatever client asks', async () => {
      const [one, other] = newQueue();
      await one.offer(['1', '2']);
      await other.offer(['3']);
      await one.offer([]);
      const polled = [await other.poll(0, never()), await one.poll(0, never()), await other.poll(0, never())];
      assert.deepEqual(polled, ['1', '2', '3']);
    });

    it('has nothing in common with a queue of another name', async () => {
      const [one] = newQueue();
      await one.offer(['hint']);
      assert.equal(await newQueue()[1].peek(), undefined);
    });

    it('gives up to as many hints as wanted without a wait', async () => {
      const [one, other] = newQueue();
      await one.offer(['1', '2', '3']);
      assert.deepEqual(await other.drain(2), ['1', '2']);
      assert.deepEqual(await other.drain(2), ['3']);
      assert.deepEqual(await other.drain(2), []);
      await one.offer(['4']);
      assert.deepEqual(await other.drain(0), []);
    });

    it('shows its first hint, which stays', async () => {
      const [one, other] = newQueue();
      assert.equal(await other.peek(), undefined);
      await one.offer(['1', '2']);
      assert.deepEqual([await other.peek(), await one.peek()], ['1', '1']);
      assert.deepEqual(await all(one), ['1', '2']);
    });

    it('says how many hints it has', async () => {
      const [one, other] = newQueue();
      assert.equal(await other.size(), 0);
      await one.offer(['1', '2', '3']);
      await one.drain(1);
      assert.deepEqual([await one.size(), await other.size()], [2, 2]);
    });

    it('removes each of the wanted hints once, and leaves the order of the others', async () => {
      const [one, other] = newQueue();
      await one.offer(['1', '2', '東京 🚀 \u0000', '2', '3', '2']);
      await other.remove(['2', '東京 🚀 \u0000', '2', 'none']);
      assert.equal(await one.size(), 3);
      assert.deepEqual((await all(one)).toSorted(), ['1', '2', '3']);
      await other.remove(['1']);
      await other.remove([]);
    });

    it('removes the newest of thousands of hints', async () => {
      const [one, other] = newQueue();
      await one.offer(Array.from({ length: 25_000 }, (_, i) => `hint ${i}`));
      await other.remove(['hint 24999', 'hint 0']);
      assert.equal(await one.size(), 24_998);
      assert.equal(await one.peek(), 'hint 1');
    });

    it('keeps thousands of hints in order, unicode and long ones too', async () => {
      const [one, other] = newQueue();
      const hints = Array.from({ length: 25_000 }, (_, i) => `hint ${i}`);
      await one.offer(hints);
      await one.offer(['東京 🚀 \u0000', '', 'ü'.repeat(100 * 1024)]);
      const drained: string[] = [];
      while (drained.length < hints.length) drained.push(...(await other.drain(500)));
      assert.deepEqual(drained, hints);
      assert.deepEqual(await all(one), ['東京 🚀 \u0000', '', 'ü'.repeat(100 * 1024)]);
    });
  });

  describe('a hint that goes with the write of a task', () => {
    const write = (key: string, former: string | undefined, next: string | undefined, hint: QueuedHint) =>
      clients.one.tasks.compareAndSet(key, former, next, { hint });
    /** All hints of a queue, once it has so many: a driver may add them a little later than it answers the write. */
    const added = async (queue: HintQueue, count: number) => {
      await eventually(`${count} hints`, async () => (await queue.size()) >= count);
      return all(queue);
    };

    it('is at the end of its queue after a write that was made: the text itself, or another one', async () => {
      const [queue, key] = [randomUUID(), clients.newKey()];
      const [one, other] = newQueue(queue);
      await one.offer(['first']);
      assert.equal(await write(key, undefined, 'text', { queue, hint: 'text' }), true);
      assert.deepEqual(await added(other, 2), ['first', 'text']);
      assert.equal(await write(key, 'text', 'next', { queue, hint: 'of next' }), true);
      assert.deepEqual(await added(other, 1), ['of next']);
      assert.equal(await write(key, 'next', undefined, { queue, hint: '' }), true);
      assert.deepEqual(await added(other, 1), ['']);
      assert.equal(await clients.other.tasks.read(key), undefined);
    });

    it('is not there after a write that was refused', async () => {
      const [queue, key] = [randomUUID(), clients.newKey()];
      assert.equal(await clients.other.tasks.compareAndSet(key, undefined, 'text'), true);
      const never = { queue, hint: 'never' };
      assert.equal(await write(key, undefined, 'never', never), false);
      assert.equal(await write(key, 'other', 'never', never), false);
      assert.equal(await write(key, 'other', undefined, never), false);
      assert.equal(await write(clients.newKey(), 'other', 'never', never), false);
      assert.equal(await write(key, 'text', 'next', { queue, hint: 'last' }), true);
      assert.deepEqual(await added(newQueue(queue)[1], 1), ['last']);
    });

    it('is there for each of many writes that come at once, if that one was made', async () => {
      const [queues, there] = [[randomUUID(), randomUUID()], 'there'];
      const isFree = Array.from({ length: 100 }, (_, index) => index % 3 !== 0);
      const keys = isFree.map(() => clients.newKey());
      const taken = keys.filter((_, index) => !isFree[index]);
      await Promise.all(taken.map((key) => clients.one.tasks.compareAndSet(key, undefined, there)));
      let former: string | undefined;
      for (const next of ['created', 'replaced']) {
        // Some hints are the text, some are not, and some writes have none.
        const hints = keys.map((_, index) => [next, `${next} ${index}`, undefined, `${next}.${index}`][index % 4]);
        const written = await Promise.all(
          keys.map((key, index) => {
            const [queue, hint] = [queues[index % 2]!, hints[index]];
            const options = hint === undefined ? {} : { hint: { queue, hint } };
            return clients.one.tasks.compareAndSet(key, former, next, options);
          }),
        );
        assert.deepEqual(written, isFree);
        for (const [place, queue] of queues.entries()) {
          const wanted = hints.filter((hint, index) => index % 2 === place && isFree[index] && hint !== undefined);
          assert.deepEqual((await added(newQueue(queue)[1], wanted.length)).toSorted(), wanted.toSorted());
        }
        former = next;
      }
    });

    it('is kept as it is, awkward and large texts too', async () => {
      const queue = randomUUID();
      const hints = [...AWKWARD_TEXTS.map(([, text]) => text), 'ü'.repeat(100 * 1024)];
      for (const hint of hints) assert.equal(await write(clients.newKey(), undefined, hint, { queue, hint }), true);
      for (const hint of hints) assert.equal(await write(clients.newKey(), undefined, 'text', { queue, hint }), true);
      assert.deepEqual(await added(newQueue(queue)[1], 2 * hints.length), [...hints, ...hints]);
    });

    it('goes to a poll that waits', async () => {
      const queue = randomUUID();
      const ending = new AbortController();
      const polled = newQueue(queue)[1].poll(FOR_EVER, ending.signal);
      try {
        assert.equal(await write(clients.newKey(), undefined, 'text', { queue, hint: 'text' }), true);
        assert.equal(await assertEnds(polled, LATE, 'the poll gets the hint'), 'text');
      } finally {
        ending.abort();
      }
    });
  });

  describe('a poll', () => {
    it('that waits gets the next hint', async () => {
      const [one, other] = newQueue();
      const polled = other.poll(FOR_EVER, never());
      await one.offer(['hint']);
      assert.equal(await polled, 'hint');
      assert.equal(await one.peek(), undefined);
    });

    it('shares no hint with another poll', async () => {
      const [one, other] = newQueue();
      const polls = Array.from({ length: 6 }, (_, i) => (i % 2 ? one : other).poll(FOR_EVER, never()));
      const hints = ['1', '2', '3', '4', '5', '6'];
      await one.offer(hints);
      assert.deepEqual((await Promise.all(polls)).toSorted(), hints);
    });

    it('gets nothing after its patience, and not before', async () => {
      const [, other] = newQueue();
      const began = performance.now();
      assert.equal(await other.poll(300, never()), undefined);
      const took = performance.now() - began;
      assert.ok(took >= 295 && took < 5000, `It took ${took} ms, not 300`);
    });

    it('gets nothing at once without patience', async () => {
      const [, other] = newQueue();
      assert.equal(await other.poll(0, never()), undefined);
    });

    it('ends when its signal aborts', async () => {
      const [one, other] = newQueue();
      const ending = new AbortController();
      const polled = other.poll(FOR_EVER, ending.signal);
      await one.peek(); // the poll waits now, or will soon
      ending.abort();
      assert.equal(await assertEnds(polled, SOON, 'the poll ends'), undefined);
    });

    it('takes nothing if its signal has aborted before', async () => {
      const [one, other] = newQueue();
      await one.offer(['hint']);
      assert.equal(await other.poll(FOR_EVER, AbortSignal.abort()), undefined);
      assert.equal(await one.peek(), 'hint');
    });

    it('whose signal aborted leaves later hints to others', async () => {
      const [one, other] = newQueue();
      const ending = new AbortController();
      const ended = other.poll(FOR_EVER, ending.signal);
      await one.peek();
      ending.abort();
      await assertEnds(ended, SOON, 'the poll ends');
      const polled = one.poll(FOR_EVER, never());
      await one.offer(['hint']);
      assert.equal(await polled, 'hint');
    });

    it('leaves no listener at its signal', async () => {
      const [one, other] = newQueue();
      const listening = new AbortController();
      const listeners = countListeners(listening.signal);
      await one.offer(['hint']);
      await other.poll(FOR_EVER, listening.signal);
      await other.poll(1, listening.signal);
      assert.equal(listeners(), 0);
    });

    it('delays no other call of its client, however many wait', async () => {
      const { one } = clients;
      const ending = new AbortController();
      setMaxListeners(0, ending.signal);
      const polls = Array.from({ length: 100 }, () => one.queue(randomUUID()).poll(FOR_EVER, ending.signal));
      const began = performance.now();
      assert.equal(await one.tasks.read(randomUUID()), undefined);
      assert.deepEqual(await one.queue(randomUUID()).drain(1), []);
      const took = performance.now() - began;
      assert.ok(took < 4000, `Other calls took ${took} ms`);
      ending.abort();
      const ended = await assertEnds(Promise.all(polls), SOON, 'the polls end');
      assert.deepEqual(ended, Array<undefined>(100).fill(undefined));
    });

    it('ends with an error when its client is closed', async () => {
      const store = await clients.open();
      const name = randomUUID();
      const outcome = store
        .queue(name)
        .poll(FOR_EVER, never())
        .catch((error: unknown) => error);
      await store.tasks.read('key'); // the poll waits now, or will soon
      await store.close();
      assert.ok((await outcome) instanceof GatekeeperError);
      const [one, other] = newQueue(name);
      // The members may not know yet that the poll has ended. Then it takes one hint.
      await one.offer(['1', '2']);
      await eventually('a hint is there', async () => (await other.peek()) !== undefined);
    });
  });
}

/** Counts the listeners that are added from now on, and not removed. */
function countListeners(signal: AbortSignal): () => number {
  const listeners = new Set<unknown>();
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  Object.assign(signal, {
    addEventListener: (...args: Parameters<typeof add>) => (listeners.add(args[1]), add(...args)),
    removeEventListener: (...args: Parameters<typeof remove>) => (listeners.delete(args[1]), remove(...args)),
  });
  return () => listeners.size;
}
