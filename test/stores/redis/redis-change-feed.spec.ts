import { setImmediate as turn } from 'node:timers/promises';
import { Deadline, DeadlinePassed } from '../../../lib/async/deadline.js';
import { systemClock } from '../../../lib/async/node-clock.js';
import { Timers } from '../../../lib/async/timers.js';
import { ChangeFeed } from '../../../lib/stores/redis/change-feed.js';
import type { RedisClient, Subscriber, SubscriberEvents } from '../../../lib/stores/redis/clients/redis-client.js';
import { Channels } from '../../../lib/stores/redis/keys.js';
import { PrefixWatches } from '../../../lib/stores/prefix-watches.js';
import type { RecordChange } from '../../../lib/stores/store.js';
import { eventually } from '../../contract/eventually.js';

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

  /** Answers the subscriptions of each connection. */
  attached({ poller }: ChangeFeed): void {
    for (const channel of [CHANNELS.changes, CHANNELS.echo(poller)]) this.asked.get(channel)!.resolve();
  }

  async unsubscribe(): Promise<void> {}
  async subscribePrefix(): Promise<void> {}
  async unsubscribePrefix(): Promise<void> {}
  close(): void {
    this.isClosed = true;
  }
}

describe('the feed of changes, when a subscriber is replaced', () => {
  const prepare = () => {
    const [former, next] = [new FakeSubscriber(), new FakeSubscriber()];
    const made = [former, next].values();
    let events: SubscriberEvents | undefined;
    const client = {
      newSubscriber: (given: SubscriberEvents) => ((events = given), made.next().value),
      command: async (_key: string, [, channel]: string[]) => published(channel!),
    } as unknown as RedisClient;
    const published = jest.fn((channel: string) => events?.onMessage(channel, ''));
    const watches = new PrefixWatches();
    return { former, next, client, published, watches, feed: new ChangeFeed(watches) };
  };
  const within = <T>(call: () => Promise<T>): Promise<T> => new Deadline(new Timers(systemClock), 50).race(call());

  it('stays attached to the new one when a late error of the former one comes', async () => {
    const { former, next, client, feed } = prepare();
    const first = feed.attach(client, CHANNELS);
    const second = feed.attach(client, CHANNELS);
    next.attached(feed);
    await second;
    former.asked.get(CHANNELS.changes)!.reject(new Error('late'));
    await expect(first).rejects.toThrow('late');
    expect(next.isClosed).toBe(false);
    feed.detach();
  });

  it('keeps the subscriptions of the new one when a late error of the former one comes', async () => {
    const { former, next, client, feed } = prepare();
    const first = feed.attach(client, CHANNELS);
    former.attached(feed);
    await first;
    feed.awaitChanges('key');
    const second = feed.attach(client, CHANNELS);
    next.attached(feed);
    await second;
    former.asked.get(CHANNELS.waiting('key'))!.reject(new Error('late'));
    await turn();
    feed.awaitChanges('key');
    expect([...next.asked.keys()]).toEqual([CHANNELS.changes, CHANNELS.echo(feed.poller), CHANNELS.waiting('key')]);
    feed.detach();
  });

  it('does not count on a former one whose answer is late', async () => {
    const { former, next, client, feed } = prepare();
    await expect(within(() => feed.attach(client, CHANNELS))).rejects.toThrow(DeadlinePassed);
    const second = feed.attach(client, CHANNELS);
    expect(former.isClosed).toBe(true);
    next.attached(feed);
    await second;
    expect(next.isClosed).toBe(false);
    feed.detach();
  });

  it('replaces one on which its own message does not arrive, and then anything may have changed', async () => {
    const { former, next, client, published, watches, feed } = prepare();
    const changes: RecordChange[] = [];
    watches.add('', (change) => changes.push(change));
    const attaching = feed.attach(client, CHANNELS);
    former.attached(feed);
    await attaching;
    await feed.verify(client, within);
    expect([former.isClosed, changes]).toEqual([false, []]);

    published.mockImplementation(() => undefined);
    const verifying = feed.verify(client, within);
    await eventually('another one', () => next.asked.size > 0);
    next.attached(feed);
    await verifying;
    expect([former.isClosed, next.isClosed, changes]).toEqual([true, false, [{}]]);
    feed.detach();
  });

  it('makes no new one for a message that did not arrive when it was detached meanwhile', async () => {
    const { former, next, client, published, feed } = prepare();
    const attaching = feed.attach(client, CHANNELS);
    former.attached(feed);
    await attaching;
    published.mockImplementation(() => undefined);
    const verifying = feed.verify(client, within);
    feed.detach();
    await verifying;
    expect(next.asked.size).toBe(0);
  });
});
