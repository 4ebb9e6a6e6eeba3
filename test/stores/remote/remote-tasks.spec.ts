import { once, setMaxListeners } from 'node:events';
import { type INestApplication, Injectable } from '@nestjs/common';
import {
  type Driver,
  type HintQueue,
  RemoteRefusedError,
  StoreUnavailableError,
  type StoreDefinition,
  TaskHandler,
  TasksService,
  UnknownOutcomeError,
  memory,
  remote,
  single,
} from 'nestjs-gatekeeper';
import { StoreHost } from '../../../lib/console/store/store-host.js';
import { CALLS, LONGEST_POLL, MEDIA_TYPE } from '../../../lib/stores/remote/protocol.js';
import { SETTINGS, TOKENS } from '../../console/consoles.js';
import { eventually } from '../../contract/eventually.js';
import { useApps } from '../../support/apps.js';
import { scripted } from '../../support/scripted-store.js';
import { FakeServer, HEALTH, sendJson } from './fake-server.js';
import { serveStore } from './host.js';

/** ms: longer than any test waits. */
const FOR_EVER = 600_000;
const never = () => new AbortController().signal;

const stores: Driver[] = [];
const hosts: INestApplication[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await Promise.all(hosts.splice(0).map((app) => app.close()));
});

function open(definition: StoreDefinition): Driver {
  const store = definition.open({ callTimeout: 10_000 });
  stores.push(store);
  return store;
}

/** A poll that a host makes for another application. */
interface Poll {
  readonly patience: number;
  readonly signal: AbortSignal;
  readonly ended: Promise<string | undefined>;
}

type PollCall = HintQueue['poll'];

/** A store that is served, one client at it and one over HTTP, and the polls of the latter as they come to the store. */
async function served(options: Partial<Parameters<typeof serveStore>[0]> = {}, pollOf = (poll: PollCall) => poll) {
  const shared = memory();
  const { store, definition } = scripted(shared);
  const polls: Poll[] = [];
  const queueOf = store.queue;
  const queue = (name: string): HintQueue => {
    const inner = queueOf(name);
    const poll = pollOf(inner.poll.bind(inner));
    inner.poll = (patience, signal) => {
      const ended = poll(patience, signal);
      polls.push({ patience, signal, ended });
      return ended;
    };
    return inner;
  };
  const host = await serveStore({ store: { ...definition, open: () => Object.assign(store, { queue }) }, ...options });
  hosts.push(host.app);
  return { host, polls, near: open(shared), far: open(host.definition) };
}

const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => 'no failure',
    (error: Error) => error,
  );

describe('a poll over HTTP', () => {
  it('gets the next hint that the other side offers', async () => {
    const { near, far, polls } = await served();
    const polled = far.queue('mail').poll(FOR_EVER, never());
    await eventually('it waits', () => polls.length === 1);
    await near.queue('mail').offer(['hint']);
    expect(await polled).toBe('hint');
    expect(await near.queue('mail').size()).toBe(0);
  });

  it('is asked again until the patience is over, and no request waits longer than the protocol allows', async () => {
    const patiences: number[] = [];
    await using server = await FakeServer.start((_request, response, body) => {
      const { patience } = JSON.parse(body) as { patience?: number };
      if (patience !== undefined) patiences.push(patience);
      const hint = patiences.length === 3 ? { hint: 'hint' } : {};
      sendJson(response, 200, { protocol: 1, health: HEALTH, ...hint });
    });
    const far = open(remote({ url: server.url, token: TOKENS.node }));
    expect(await far.queue('mail').poll(FOR_EVER, never())).toBe('hint');
    expect(patiences).toEqual([LONGEST_POLL, LONGEST_POLL, LONGEST_POLL]);
    expect(await far.queue('mail').poll(10, never())).toBeUndefined();
    expect(patiences.slice(3)).toEqual([10]);
  });

  it('goes on at the next address for the time that is left', async () => {
    const patiences: number[] = [];
    await using ending = await FakeServer.start((request, response, body) => {
      if (body.includes('"patience"')) setTimeout(() => request.socket.destroy(), 300);
      else sendJson(response, 200, { protocol: 1, health: HEALTH });
    });
    await using other = await FakeServer.start((_request, response, body) => {
      patiences.push((JSON.parse(body) as { patience: number }).patience);
      sendJson(response, 200, { health: HEALTH });
    });
    const far = open(remote({ url: [ending.url, other.url], token: TOKENS.node }));
    expect(await far.queue('mail').poll(1000, never())).toBeUndefined();
    expect(patiences).toHaveLength(1);
    expect(patiences[0]).toBeLessThanOrEqual(720);
    expect(patiences[0]).toBeGreaterThan(0);
    expect(far.health().connected).toBe(true);
  });

  it('that is aborted ends at the store, which then gives its hints to others', async () => {
    const { near, far, polls } = await served();
    await eventually('it is connected', () => far.health().connected);
    const ending = new AbortController();
    const polled = far.queue('mail').poll(FOR_EVER, ending.signal);
    await eventually('it waits', () => polls.length === 1);
    ending.abort();
    expect(await polled).toBeUndefined();
    await eventually('the store hears of it', () => polls[0]!.signal.aborted);
    expect(await polls[0]!.ended).toBeUndefined();
    await near.queue('mail').offer(['hint']);
    expect(await near.queue('mail').peek()).toBe('hint');
    expect(far.health()).toEqual(near.health());
  });

  it('gives a hint back that comes after its taker has gone', async () => {
    const late =
      (): PollCall =>
      async (_patience, signal): Promise<string> => {
        await once(signal, 'abort');
        return 'late';
      };
    const { near, far, polls } = await served({}, late);
    const ending = new AbortController();
    const polled = far.queue('mail').poll(FOR_EVER, ending.signal);
    await eventually('it waits', () => polls.length === 1);
    ending.abort();
    expect(await polled).toBeUndefined();
    await eventually('it is back', async () => (await near.queue('mail').peek()) === 'late');
  });

  it('ends when the application that serves it closes', async () => {
    const { host, far, polls } = await served();
    const polled = failureOf(far.queue('mail').poll(FOR_EVER, never()));
    await eventually('it waits', () => polls.length === 1);
    const began = performance.now();
    await host.app.close();
    expect(performance.now() - began).toBeLessThan(3000);
    expect(await polled).toBeInstanceOf(StoreUnavailableError);
  });

  it('is refused where a thousand wait, and other calls are served as before', async () => {
    const { host, near, far } = await served();
    await eventually('it is connected', () => far.health().connected);
    const storeHost = host.app.get(StoreHost);
    const ending = new AbortController();
    setMaxListeners(0, ending.signal);
    const body = { queue: 'mail', patience: LONGEST_POLL };
    const others = Array.from({ length: 1000 }, () => failureOf(storeHost.answer(CALLS.poll, body, ending.signal)));
    const refusal = await failureOf(far.queue('mail').poll(FOR_EVER, never()));
    expect(refusal).toBeInstanceOf(RemoteRefusedError);
    expect(String(refusal)).toContain('1000 polls wait on this node already');
    expect(far.health()).toMatchObject({ connected: true, problem: expect.stringContaining('1000 polls') });
    expect(await far.queue('mail').drain(1)).toEqual([]);
    expect(far.health()).toEqual(near.health());
    ending.abort();
    await Promise.all(others);
    expect(await far.queue('mail').poll(0, never())).toBeUndefined();
  });
});

describe('the tasks of another application', () => {
  it('are removed, and its records never', async () => {
    const { near, far } = await served();
    for (const texts of [far.tasks, far.groups, far.records] as const)
      expect(await texts.compareAndSet('key', undefined, 'text')).toBe(true);
    const removal = (far.records as Driver['groups']).compareAndSet('key', 'text', undefined);
    const refusal = await failureOf(removal);
    expect(refusal).toBeInstanceOf(RemoteRefusedError);
    expect(String(refusal)).toContain('next: is missing: a record is never removed');
    expect(await far.tasks.compareAndSet('key', 'other', undefined)).toBe(false);
    expect(await far.tasks.compareAndSet('key', 'text', undefined)).toBe(true);
    const left = await Promise.all([near.records, near.tasks, near.groups].map((texts) => texts.read('key')));
    expect(left).toEqual(['text', undefined, 'text']);
  });

  it('get and give more hints than one request has', async () => {
    const { near, far } = await served();
    const hints = [...Array.from({ length: 1200 }, (_, index) => `hint ${index}`), 'ü'.repeat(900_000), '', 'last'];
    await far.queue('mail').offer(hints);
    expect(await near.queue('mail').size()).toBe(hints.length);
    await far.queue('mail').remove(hints.slice(0, 1100));
    const left: string[] = [];
    for (let some: string[] = ['']; some.length > 0; left.push(...some)) some = await far.queue('mail').drain(1000);
    expect(left).toEqual(hints.slice(1100));
  });

  const KEY = 'x'.repeat(1001);
  it.each<[string, object]>([
    ['read', { collection: 'tasks', keys: [KEY] }],
    ['read', { collection: 'tasks', keys: Array(501).fill('key') }],
    ['read', { collection: 'nodes', keys: ['key'] }],
    ['compare-and-set', { collection: 'tasks', key: KEY, next: 'text' }],
    ['compare-and-set', { collection: 'records', key: 'key', next: 'text', hint: { queue: 'mail' } }],
    ['compare-and-set', { collection: 'tasks', key: 'key', expected: 'text', hint: { queue: 'mail' } }],
    ['compare-and-set', { collection: 'tasks', key: 'key', next: 'text', hint: { queue: KEY } }],
    ['compare-and-set', { collection: 'tasks', key: 'key', next: 'text', hint: { queue: 'mail', hint: 5 } }],
    ['range', { from: '', to: 'z', limit: 501 }],
    ['range', { from: '', to: 'z', limit: -1 }],
    ['queue/offer', { queue: 'x'.repeat(201), hints: ['hint'] }],
    ['queue/offer', { queue: 'line\nbreak', hints: ['hint'] }],
    ['queue/offer', { queue: 'mail', hints: Array(501).fill('hint') }],
    ['queue/offer', { queue: 'mail', hints: 'hint' }],
    ['queue/remove', { queue: 'mail', hints: [1] }],
    ['queue/drain', { queue: 'mail', most: 501 }],
    ['queue/poll', { queue: 'mail', patience: LONGEST_POLL + 1 }],
    ['queue/poll', { queue: '', patience: 0 }],
    ['queue/size', { queue: 'mail', other: 1 }],
  ])('are not asked for what is too long or too much: %s %j', async (path, body) => {
    const { host, near } = await served();
    await near.queue('mail').offer(['hint']);
    const answer = await fetch(`${host.url}/api/store/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKENS.node}`, 'content-type': MEDIA_TYPE },
      body: JSON.stringify(body),
    });
    const { code, faults } = (await answer.json()) as { code: string; faults: string[] };
    expect([answer.status, code, faults.length]).toEqual([400, 'invalid-options', 1]);
    expect(await near.queue('mail').size()).toBe(1);
  });

  it('are not given out by a console that is read-only', async () => {
    const { near, far, polls } = await served({ console: { ...SETTINGS, readOnly: true } });
    const queue = far.queue('mail');
    await near.queue('mail').offer(['hint']);
    const taking = [queue.poll(FOR_EVER, never()), queue.drain(1), queue.remove(['hint']), queue.offer(['other'])];
    for (const refusal of await Promise.all(taking.map(failureOf))) expect(String(refusal)).toMatch(/403.*readOnly/);
    expect([await queue.peek(), await queue.size(), polls.length]).toEqual(['hint', 1, 0]);
  });

  it('may have been written without an answer, and hints without one are only lost', async () => {
    await using server = await FakeServer.start((request) => request.socket.destroy());
    const far = open(remote({ url: server.url, token: TOKENS.node }));
    const queue = far.queue('mail');
    const writes = [
      far.tasks.compareAndSet('key', 'text', undefined),
      far.groups.compareAndSet('key', undefined, 'text'),
      queue.offer(['hint']),
      queue.remove(['hint']),
    ];
    const others = [far.tasks.range('', 'z', 1), queue.poll(10, never()), queue.drain(1), queue.peek(), queue.size()];
    for (const error of await Promise.all(writes.map(failureOf))) expect(error).toBeInstanceOf(UnknownOutcomeError);
    for (const error of await Promise.all(others.map(failureOf))) expect(error).toBeInstanceOf(StoreUnavailableError);
  });
});

describe('an application over the store of another one', () => {
  const { boot } = useApps();

  @Injectable()
  class Mails {
    @TaskHandler('mail')
    send({ data }: { data: string }): string {
      return `sent to ${data}`;
    }
  }

  it('does the tasks that any node submits', async () => {
    const { host, near, far } = await served();
    expect(near.within).toBeUndefined();
    expect(far.within).toBeUndefined();
    await boot({ providers: [Mails] }, { callTimeout: 10_000 }, host.definition);
    const tasks = host.app.get(TasksService);
    await tasks.submit(single('mail', 'one'), 'ada');
    await eventually('it is done', async () => (await tasks.find('mail:one'))?.state === 'completed');
    expect(await tasks.find('mail:one')).toMatchObject({ result: 'sent to ada' });
  });
});
