import { setImmediate as turn } from 'node:timers/promises';
import { Deadline, DeadlinePassed } from '../../../lib/core/async/deadline.js';
import { systemClock } from '../../../lib/core/async/node-clock.js';
import { Timers } from '../../../lib/core/async/timers.js';
import { ChangeFeed } from '../../../lib/stores/redis/change-feed.js';
import type { RedisClient, Subscriber, SubscriberEvents } from '../../../lib/stores/redis/clients/redis-client.js';
import { Channels } from '../../../lib/stores/redis/keys.js';
import { PrefixWatches } from '../../../lib/core/store/prefix-watches.js';
import type { RecordChange } from '../../../lib/core/store/driver.js';
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
    former.asked.get(CHANNELS.waitingFor('key')[0])!.reject(new Error('late'));
    await turn();
    feed.awaitChanges('key');
    expect([...next.asked.keys()]).toEqual([
      CHANNELS.changes,
      CHANNELS.echo(feed.poller),
      CHANNELS.waitingFor('key')[0],
    ]);
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

describe('the feed of changes, when it hears messages', () => {
  const KEY = 'semaphore:job';
  const TEXT = '{"seq":7}';

  /** The feed of a node, and one of another node that writes. */
  async function two() {
    let heard!: SubscriberEvents;
    let key: string | null = null;
    const client = {
      newSubscriber: (events: SubscriberEvents) => ((heard = events), subscriber),
      command: async (_key: string, [name, , text]: string[]) => (name === 'get' ? key : (key ??= text!)),
    } as unknown as RedisClient;
    const subscriber = new FakeSubscriber();
    const watches = new PrefixWatches();
    const changes: RecordChange[] = [];
    watches.add('semaphore:', (change) => changes.push(change));
    const [writer, feed] = [new ChangeFeed(new PrefixWatches(), { writer: 'other' }), new ChangeFeed(watches)];
    const woken: string[] = [];
    for (const each of [writer, feed]) {
      await each.loadKey(client, 'gatekeeper:hint-key', (call) => call());
      const attaching = each.attach(client, CHANNELS);
      subscriber.attached(each);
      subscriber.asked.clear();
      await attaching;
    }
    const waiting = feed.listenForHints((queue) => woken.push(queue));
    subscriber.asked.get(CHANNELS.wake + feed.poller)!.resolve();
    await waiting;
    const body = `other ${KEY.length} ${KEY}${TEXT}`;
    const hear = (message: string, channel = CHANNELS.changes) => heard.onMessage(channel, message);
    return { writer, feed, hear, changes, woken, body, seal: writer.announcing!.sealOf(KEY, TEXT) };
  }

  it('passes on the text of another node, once', async () => {
    const { feed, hear, changes, seal, body } = await two();
    hear(seal + body);
    hear(seal + body);
    await turn();
    expect(changes).toEqual([{ key: KEY, text: TEXT }]);
    feed.close();
  });

  it.each<[string, (seal: string, body: string) => string]>([
    ['has no seal', (_, body) => ' '.repeat(36) + body],
    ['has the seal of another text', (seal, body) => seal + body.replace('7', '8')],
    ['is cut', (seal, body) => (seal + body).slice(0, -1)],
  ])('passes on only the key of one that %s', async (_, forged) => {
    const { feed, hear, changes, seal, body } = await two();
    hear(forged(seal, body));
    await turn();
    expect(changes).toEqual([{ key: KEY, isUnproven: true }]);
    feed.close();
  });

  it.each(['', ' ', 'x', 'a b c', `${'x'.repeat(36)}w 9e9 ${KEY}`, `${'x'.repeat(36)}w -1 ${KEY}`])(
    'passes on no text of one that is no message (%j)',
    async (message) => {
      const { feed, hear, changes } = await two();
      hear(message);
      await turn();
      expect(changes.filter(({ text }) => text !== undefined)).toEqual([]);
      feed.close();
    },
  );

  it('wakes a poll at once for each hint of another node, and once for many of a foreign program', async () => {
    const { writer, feed, hear, woken } = await two();
    const channel = CHANNELS.wake + feed.poller;
    for (let i = 0; i < 3; i++) hear(writer.wakeMessageOf('mail.normal'), channel);
    expect(woken).toHaveLength(3);
    for (let i = 0; i < 100; i++) hear('mail.normal', channel);
    for (let i = 0; i < 100; i++) hear(`${' '.repeat(36)}mail.normal`, channel);
    await turn();
    expect(woken).toHaveLength(4);
    feed.close();
  });
});
