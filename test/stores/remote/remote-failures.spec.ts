import { setTimeout as pause } from 'node:timers/promises';
import {
  InvalidOptionsError,
  NoQuorumError,
  type Driver,
  RemoteRefusedError,
  StoreUnavailableError,
  UnknownOutcomeError,
  remote,
} from 'nestjs-gatekeeper';
import { eventually } from '../../contract/eventually.js';
import { DEAD_URL, FakeServer, HEALTH, sendJson } from './fake-server.js';

const TOKEN = 'a-secret-token-0123456789';
/** ms, where nothing is waited for until it has passed. */
const CALL_TIMEOUT = 10_000;
const opened: Driver[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

function open(...urls: string[]): Driver {
  return openWithin(CALL_TIMEOUT, ...urls);
}

function openWithin(callTimeout: number, ...urls: string[]): Driver {
  const store = remote({ url: urls, token: TOKEN }).open({ callTimeout });
  opened.push(store);
  return store;
}

const write = (store: Driver) => store.records.compareAndSet('key', undefined, 'text').catch((error: Error) => error);
const read = (store: Driver) => store.records.read('key').catch((error: Error) => error);

describe('a call that surely did nothing is distinguished from one that may have', () => {
  it('without a listener: nothing was done', async () => {
    const store = open(DEAD_URL);
    expect(await write(store)).toBeInstanceOf(StoreUnavailableError);
    expect(await read(store)).toBeInstanceOf(StoreUnavailableError);
    expect(store.health()).toEqual({
      connected: false,
      members: 0,
      quorum: 0,
      problem: expect.stringContaining(DEAD_URL),
    });
  });

  it('where the host has no such name: nothing was done', async () => {
    expect(await write(open('http://nowhere.invalid/gatekeeper'))).toBeInstanceOf(StoreUnavailableError);
  });

  it('where the connection breaks once the request was sent: it may have been', async () => {
    await using server = await FakeServer.start((request) => request.socket.destroy());
    const store = open(server.url);
    expect(await write(store)).toBeInstanceOf(UnknownOutcomeError);
    expect(await read(store)).toBeInstanceOf(StoreUnavailableError);
  });

  it('where the connection breaks in the midst of the answer: it may have been', async () => {
    await using server = await FakeServer.start((request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"written":', () => request.socket.destroy());
    });
    expect(await write(open(server.url))).toBeInstanceOf(UnknownOutcomeError);
  });

  it('without an answer in time: it may have been, and the caller learns this in time', async () => {
    await using server = await FakeServer.start(() => undefined);
    const store = openWithin(400, server.url);
    // On a busy machine a timer is late, also this one: then the caller can't learn it earlier.
    const due = pause(400).then(() => performance.now());
    const [written, found] = await Promise.all([write(store), read(store)]);
    expect(performance.now() - (await due)).toBeLessThan(250);
    expect(written).toBeInstanceOf(UnknownOutcomeError);
    expect(found).toBeInstanceOf(StoreUnavailableError);
    expect([written, found].map(String)).toEqual(Array(2).fill(expect.stringMatching(/no answer within \d+ ms/)));
  });

  it.each(['constructor', '__proto__'])('where a refusal has the code "%s": nothing was done', async (code) => {
    await using server = await FakeServer.start((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/problem+json' }).end(JSON.stringify({ code }));
    });
    expect(await write(open(server.url))).toBeInstanceOf(RemoteRefusedError);
  });

  it('where the answer is none that can be read: it may have been', async () => {
    await using server = await FakeServer.start((_request, response) => sendJson(response, 200, { hello: 'world' }));
    expect(await write(open(server.url))).toBeInstanceOf(UnknownOutcomeError);
  });

  const PROBLEM = 'application/problem+json';
  it.each([
    [503, { code: 'unavailable' }, PROBLEM, StoreUnavailableError],
    [503, { code: 'closing' }, PROBLEM, StoreUnavailableError],
    [503, { code: 'no-quorum' }, PROBLEM, NoQuorumError],
    [503, { code: 'unknown-outcome' }, PROBLEM, UnknownOutcomeError],
    [500, { code: 'internal' }, PROBLEM, UnknownOutcomeError],
    [502, {}, 'text/html', UnknownOutcomeError],
    [503, { code: 'unavailable' }, 'application/json', UnknownOutcomeError],
    [504, {}, 'text/html', UnknownOutcomeError],
    [408, {}, 'text/html', UnknownOutcomeError],
    [401, {}, PROBLEM, RemoteRefusedError],
    [403, {}, PROBLEM, RemoteRefusedError],
    [404, {}, 'text/html', RemoteRefusedError],
    [413, {}, 'text/html', RemoteRefusedError],
    [302, {}, 'text/html', RemoteRefusedError],
  ])('where %d %j as %s is answered', async (status, body, type, kind) => {
    await using server = await FakeServer.start((_request, response) => sendJson(response, status, body, type));
    const store = open(server.url);
    const failure = await write(store);
    expect(failure).toBeInstanceOf(kind);
    expect((failure as Error).constructor).toBe(kind);
    expect(String(failure) + JSON.stringify(store.health())).not.toContain(TOKEN);
  });
});

describe('an answer that is not that of a console', () => {
  const WRAPPED = { success: true, data: { text: 'secret text', written: true, protocol: 1, health: HEALTH } };
  const TEXTS = JSON.stringify({ texts: [], written: true, protocol: 1, health: { ...HEALTH, connected: 'yes' } });
  it.each<[string, string, string, RegExp]>([
    ['wrapped', 'application/json', JSON.stringify(WRAPPED), /an object with success, data, without "[a-z]+", so/],
    ['a list', 'application/json', '[1]', / a list, so/],
    ['null', 'application/json', 'null', / null, so/],
    ['a text', 'application/json', '"secret text"', / a text, so/],
    [
      'a page',
      'text/html; charset=utf-8',
      '<html>secret text</html>',
      / text\/html; charset=utf-8 that is no JSON, so/,
    ],
    ['empty', 'application/json', '', / application\/json that is no JSON, so/],
    ['of other kinds', 'application/json', TEXTS, /whose "health.connected" is a text, so/],
  ])('is named, with its address and what to do, and shows no content: %s', async (_, type, body, got) => {
    await using server = await FakeServer.start((_request, response) => {
      response.writeHead(200, { 'content-type': type }).end(body);
    });
    const store = open(server.url);
    const [found, written] = await Promise.all([read(store), write(store)]);
    expect([found, written]).toEqual([expect.any(RemoteRefusedError), expect.any(UnknownOutcomeError)]);
    for (const said of [String(found), String(written), store.health().problem!]) {
      expect(said).toMatch(new RegExp(`${server.url}/api/store/[\\w-]+ answered 200 with `));
      expect(said).toMatch(got);
      expect(said).toContain('let url name the path of its console');
      expect(said).not.toContain('secret');
    }
  });

  it('keeps an application from starting, rather than that it waits for ever', async () => {
    await using server = await FakeServer.start((_request, response) => sendJson(response, 200, WRAPPED));
    await expect(open(server.url).verify!()).rejects.toThrow(RemoteRefusedError);
  });
});

describe('a call that is refused for itself', () => {
  it.each([413, 400])('with %i leaves the store connected, and its health says why', async (status) => {
    await using server = await FakeServer.start((_request, response, body) => {
      if (body.includes('"next"')) sendJson(response, status, { code: 'refused' });
      else sendJson(response, 200, { protocol: 1, health: HEALTH });
    });
    const store = open(server.url);
    await eventually('it is connected', () => store.health().connected);
    expect(await write(store)).toBeInstanceOf(RemoteRefusedError);
    expect(store.health()).toEqual({ ...HEALTH, problem: expect.stringContaining(`answered ${status}`) });
  });
});

describe('of several addresses', () => {
  const serving = (answer = 'text') =>
    FakeServer.start((_request, response, body) =>
      sendJson(response, 200, {
        ...(body.includes('"next"') ? { written: true } : { texts: [['key', answer]] }),
        protocol: 1,
        health: HEALTH,
      }),
    );

  it('the next is asked when one does not listen, and stays the one that is asked', async () => {
    await using server = await serving();
    const store = open(DEAD_URL, server.url);
    expect(await write(store)).toBe(true);
    expect(await read(store)).toBe('text');
    expect(store.health()).toEqual(HEALTH);
  });

  it('the next is asked when the store behind one is away', async () => {
    const problem = { code: 'unavailable' };
    await using away = await FakeServer.start((_request, response) =>
      sendJson(response, 503, problem, 'application/problem+json'),
    );
    await using server = await serving();
    expect(await write(open(away.url, server.url))).toBe(true);
  });

  it('no other is asked when the cluster has no quorum: it is the same behind all of them', async () => {
    const problem = { code: 'no-quorum', detail: 'one member of two' };
    await using server = await FakeServer.start((_request, response) =>
      sendJson(response, 503, problem, 'application/problem+json'),
    );
    await using other = await serving();
    const outcomes = [await write(open(server.url, other.url)), await read(open(server.url, other.url))];
    expect(outcomes).toEqual([expect.any(NoQuorumError), expect.any(NoQuorumError)]);
    expect(other.writes).toEqual([]);
  });

  it('a write goes to no other when the first may have done it; a read does', async () => {
    await using broken = await FakeServer.start((request) => request.socket.destroy());
    await using server = await serving();
    const store = open(broken.url, server.url);
    await eventually('the one that serves was found', () => store.health().connected);
    const again = open(broken.url, server.url);
    const outcomes = await Promise.all([write(again), write(open(broken.url, server.url))]);
    expect(outcomes).toEqual([expect.any(UnknownOutcomeError), expect.any(UnknownOutcomeError)]);
    expect(server.writes).toEqual([]);
    expect(await read(open(broken.url, server.url))).toBe('text');
  });

  it('one that hangs does not use up the time of a read', async () => {
    await using hanging = await FakeServer.start(() => undefined);
    await using server = await serving();
    expect(await read(openWithin(4000, hanging.url, server.url))).toBe('text');
  });

  it('reports what all of them refuse, rather than that one is unreachable', async () => {
    await using refusing = await FakeServer.start((_request, response) => sendJson(response, 401, {}));
    const store = open(refusing.url, DEAD_URL);
    expect(await write(store)).toBeInstanceOf(RemoteRefusedError);
    await expect(store.verify!()).rejects.toThrow(RemoteRefusedError);
  });
});

describe('closing', () => {
  it('ends what is under way at once', async () => {
    await using server = await FakeServer.start(() => undefined);
    const store = remote({ url: server.url, token: TOKEN }).open({ callTimeout: 60_000 });
    const calls = [read(store), write(store)];
    await eventually('both were sent', () => server.bodies.some((body) => body.includes('"next"')));
    await store.close();
    const [found, written] = await Promise.all(calls);
    expect(found).toBeInstanceOf(StoreUnavailableError);
    expect(written).toBeInstanceOf(UnknownOutcomeError);
    expect(String(written)).toContain('the store was closed');
  });
});

describe('verify', () => {
  it('passes where the other application is away: it may come', async () => {
    await open(DEAD_URL).verify!();
  });

  it('refuses a newer protocol', async () => {
    await using server = await FakeServer.start((_request, response) =>
      sendJson(response, 200, { protocol: 2, health: HEALTH }),
    );
    await expect(open(server.url).verify!()).rejects.toThrow(/version 2 of the protocol/);
  });
});

describe("remote()'s options", () => {
  const url = 'https://host/gatekeeper';
  it.each([
    [{ token: TOKEN }, /url: /],
    [{ url: [], token: TOKEN }, /url.*has no address/],
    [{ url: 'host/gatekeeper', token: TOKEN }, /"host\/gatekeeper" is no address/],
    [{ url: 'ftp://host', token: TOKEN }, /is no address/],
    [{ url: 'https://user:password@host/', token: TOKEN }, /is no address/],
    [{ url }, /token: is missing: is the variable set that it comes from/],
    [{ url, token: 7 } as never, /token: is not text/],
    [{ url, token: '' }, /token: is empty/],
    [{ url, token: 'with blank' }, /token: is empty, or has characters/],
    [{ url, token: TOKEN, agent: {} }, /agent: .* is no agent/],
    [{ url, token: TOKEN, tokne: 1 }, /tokne/],
  ])('are checked: %j', (options, fault) => {
    expect(() => remote(options as never)).toThrow(InvalidOptionsError);
    expect(() => remote(options as never)).toThrow(fault);
  });

  it.each([
    'https://user:S3cretPw@host/gatekeeper',
    'https://host/gatekeeper?token=S3cretPw',
    'https://host/gatekeeper?token=S3cretPw@x',
    'https://host/gatekeeper?a=x@S3cretPw',
    'https://host/gatekeeper#S3cretPw',
    'https://:S3cretPw@host',
    'https://S3cretPw@host',
    'https://u:a?S3cretPw@host',
    'https:u:S3cretPw@host',
    'u:S3cretPw@host/gatekeeper',
    'ftp://u:S3cretPw@host',
    'https://u:S3cretPw@ho st/',
    'https://u:S3cret Pw%zz@host/?S3cretPw',
  ])('are refused without the secrets of an address: %s', (secret) => {
    for (const given of [secret, [secret], [url, secret]])
      expect(() => remote({ url: given, token: TOKEN })).toThrow(
        expect.objectContaining({ code: 'invalid-options', message: expect.not.stringContaining('S3cret') }),
      );
  });

  it('keep the token out of all messages', () => {
    expect(() => remote({ url, token: 'secret with blanks' })).toThrow(expect.not.stringContaining('secret') as never);
  });
});
