import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { ChangeFeed } from '../../../lib/stores/redis/change-feed.js';
import type { RedisClient, Subscriber } from '../../../lib/stores/redis/clients/redis-client.js';
import { Channels } from '../../../lib/stores/redis/keys.js';
import { PrefixWatches } from '../../../lib/stores/prefix-watches.js';

const CHANNELS = new Channels('gatekeeper:', 0);

interface Answer {
  resolve(): void;
  reject(error: Error): void;
}

/** Its subscriptions wait for the test's answer. */
class FakeSubscriber implements Subscriber {
  isClosed = false;
  readonly asked = new Map<string, Answer>();

  subscribe(channel: string): Promise<void> {
    expect([...this.asked.keys()]).not.toContain(channel);
    return new Promise((resolve, reject) => this.asked.set(channel, { resolve, reject }));
  }

  async unsubscribe(): Promise<void> {}
  async subscribePrefix(): Promise<void> {}
  async unsubscribePrefix(): Promise<void> {}
  close(): void {
    this.isClosed = true;
  }
}

describe('the feed of changes, when a subscriber that closed is replaced', () => {
  const prepare = () => {
    const [former, next] = [new FakeSubscriber(), new FakeSubscriber()];
    const made = [former, next].values();
    const client = { newSubscriber: () => made.next().value } as unknown as RedisClient;
    return { former, next, client, feed: new ChangeFeed(new PrefixWatches()) };
  };

  it('stays attached to the new one when a late error of the former one comes', async () => {
    const { former, next, client, feed } = prepare();
    const first = feed.attach(client, CHANNELS);
    former.isClosed = true;
    const second = feed.attach(client, CHANNELS);
    next.asked.get(CHANNELS.changes)!.resolve();
    await second;
    former.asked.get(CHANNELS.changes)!.reject(new Error('late'));
    await expect(first).rejects.toThrow('late');
    expect(next.isClosed).toBe(false);
    feed.detach();
  });

  it('keeps the subscriptions of the new one when a late error of the former one comes', async () => {
    const { former, next, client, feed } = prepare();
    const first = feed.attach(client, CHANNELS);
    former.asked.get(CHANNELS.changes)!.resolve();
    await first;
    feed.awaitChanges('key');
    former.isClosed = true;
    const second = feed.attach(client, CHANNELS);
    next.asked.get(CHANNELS.changes)!.resolve();
    await second;
    former.asked.get(CHANNELS.waiting('key'))!.reject(new Error('late'));
    await turn();
    feed.awaitChanges('key');
    expect([...next.asked.keys()]).toEqual([CHANNELS.changes, CHANNELS.waiting('key')]);
    feed.detach();
  });
});
