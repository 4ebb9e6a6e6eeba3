import { HintPolls, type PolledQueue } from '../../../lib/core/store/hint-polls.js';
import { StoreUnavailableError } from '../../../lib/core/store/store.errors.js';

/** Longer than any poll of these tests may wait, in ms: each ends by something else. */
const FOR_EVER = 60_000;

/** A queue that wakes its polls when it gets a hint, as a store's message does. */
class WakingQueue implements PolledQueue {
  readonly name = 'mail';
  readonly hints: string[] = [];
  /** Number of looks into the queue. */
  looks = 0;
  /** Called at the end of each look. */
  onLook: () => void = () => undefined;

  constructor(private readonly polls: HintPolls) {}

  async offer(hints: readonly string[]): Promise<void> {
    this.hints.push(...hints);
    this.polls.wake(this.name);
  }

  async drain(most: number): Promise<string[]> {
    this.looks++;
    const drained = this.hints.splice(0, most);
    await Promise.resolve();
    this.onLook();
    return drained;
  }
}

describe('Polls for hints', () => {
  let polls: HintPolls;
  let queue: WakingQueue;
  let abort: AbortController;
  const poll = (patience = FOR_EVER) => polls.poll(queue, patience, abort.signal);

  beforeEach(() => {
    polls = new HintPolls();
    queue = new WakingQueue(polls);
    abort = new AbortController();
  });

  it('take the hint that is there, and look once if they have no patience', async () => {
    queue.hints.push('a');
    expect(await poll()).toBe('a');
    expect(await poll(0)).toBeUndefined();
    expect(queue.looks).toBe(2);
    expect(polls.queues).toEqual([]);
  });

  it('do not look again because a timer came a part of a ms too early', async () => {
    const count = 40;
    for (let poll = 0; poll < count; poll++) await polls.poll(queue, 5, abort.signal);
    // A timer may still be early, but rarely.
    expect(queue.looks).toBeLessThan(1.5 * count);
  });

  it('wait for an offer, and are listed meanwhile', async () => {
    const polling = poll();
    expect(polls.queues).toEqual(['mail']);
    await queue.offer(['a']);
    expect(await polling).toBe('a');
    expect(polls.queues).toEqual([]);
    expect(polls.wake('mail')).toBe(false);
  });

  it('notice a hint that is offered while they look', async () => {
    queue.onLook = () => {
      queue.onLook = () => undefined;
      void queue.offer(['late']);
    };
    expect(await poll()).toBe('late');
  });

  it('end with their patience, and with the signal', async () => {
    expect(await poll(20)).toBeUndefined();
    const polling = poll();
    abort.abort();
    expect(await polling).toBeUndefined();
    const { looks } = queue;
    expect(await poll()).toBeUndefined();
    expect(queue.looks).toBe(looks);
  });

  it('offer a hint again that they find after the signal aborted, and drop the error of that', async () => {
    queue.hints.push('a');
    queue.onLook = () => abort.abort();
    expect(await poll()).toBeUndefined();
    expect(queue.hints).toEqual(['a']);

    abort = new AbortController();
    queue.offer = () => Promise.reject(new StoreUnavailableError('no answer'));
    expect(await poll()).toBeUndefined();
  });

  it('fail with the error of a look after all were woken, as when the store was closed', async () => {
    const polling = poll();
    queue.drain = () => Promise.reject(new StoreUnavailableError('the store is closed'));
    polls.wakeAll();
    await expect(polling).rejects.toThrow('the store is closed');
    expect(polls.queues).toEqual([]);
  });

  it('look again after the longest wait, although nothing woke them', async () => {
    polls = new HintPolls(10);
    const polling = poll();
    queue.hints.push('unannounced');
    expect(await polling).toBe('unannounced');
  });
});
