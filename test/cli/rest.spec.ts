import { OPERATIONS } from '../../lib/cli/operator/operator.js';
import { RestOperator } from '../../lib/cli/rest/rest-operator.js';
import { UsageFailure } from '../../lib/cli/options/exit-code.js';
import { openOperator } from '../../lib/cli/session/open-operator.js';
import { FakeServer, HEALTH, sendJson } from '../stores/remote/fake-server.js';
import { call } from './command-line.js';

const TOKEN = 'a-secret-token-0123456789';
const FULL_HEALTH = {
  status: 'healthy',
  grants: true,
  now: 1,
  faults: [],
  hasArchive: false,
  node: { group: 'default', acquirer: 'app1', instance: 'i' },
  store: HEALTH,
  clock: { spread: 0, members: 1 },
  unreadable: { runs: 0, audit: 0, nodes: 0 },
  parts: [],
};
const over = (url: string, ...args: string[]) =>
  call([...args, '--url', url, '--token', TOKEN, '--timeout', '5s'], { open: openOperator });

describe('the command line over HTTP', () => {
  it('does not follow a redirect: the token is for one address alone', async () => {
    const sent: (string | undefined)[] = [];
    await using elsewhere = await FakeServer.start((request, response) => {
      sent.push(request.headers.authorization);
      sendJson(response, 200, {});
    });
    await using server = await FakeServer.start((_request, response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
    });
    for (const args of [['status'], ['edit', 'job', '--permits', '2']]) {
      const { exitCode, out, err } = await over(server.url, ...args);
      expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' });
      expect(err).toContain(`redirects to ${elsewhere.url}: give the final address`);
    }
    expect(sent).toEqual([]);
  });

  it('health lists jobs that did not run, and ends with 0', async () => {
    const warnings = [{ code: 'not-run', semaphore: 'nightly', since: 1_000, sentence: 'Jobs.nightly was due' }];
    await using server = await FakeServer.start((_request, response) =>
      sendJson(response, 200, { ...FULL_HEALTH, warnings }),
    );
    const { exitCode, out } = await over(server.url, 'health');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^not-run +nightly +1970-01-01 00:00:01Z +Jobs\.nightly was due$/m);
  });

  it.each(['3d', '366d'])('waits for the answer to a change of many with --timeout %s', async (timeout) => {
    await using server = await FakeServer.start((_request, response) =>
      setImmediate(() => sendJson(response, 200, { done: ['job'], failed: [], remaining: 0, bulk: 'b' })),
    );
    const outcome = await call(['pause', 'job', '--url', server.url, '--timeout', timeout], { open: openOperator });
    expect(outcome).toEqual({ exitCode: 0, out: 'paused 1: job\n', err: '' });
  });

  it.each(['', '.', '..'])('asks nothing for the name "%s", which would make another path', async (name) => {
    const asked: (string | undefined)[] = [];
    await using server = await FakeServer.start((request, response) => {
      asked.push(request.url);
      sendJson(response, 200, {});
    });
    await using operator = new RestOperator({ url: new URL(server.url), token: TOKEN, timeout: 5000 });
    const calls = [
      () => operator.call(OPERATIONS.pause, { params: { name }, body: {} }),
      () => operator.call(OPERATIONS.explain, { params: { name } }),
      () => operator.call(OPERATIONS.remove, { params: { name }, body: {} }),
      () => operator.call(OPERATIONS.maintenanceWindow, { params: { window: name } }),
      () => operator.call(OPERATIONS.task, { params: { id: name } }),
    ];
    for (const each of calls) {
      await expect(each()).rejects.toThrow(UsageFailure);
      await expect(each()).rejects.toThrow(`"${name}" can't be part of an address: give another name`);
    }
    expect(asked).toEqual([]);
  });

  it('goes on with a change in a moment where the console lets no more through at once', async () => {
    let asked = 0;
    await using server = await FakeServer.start((_request, response) => {
      if (asked++ > 0) return sendJson(response, 200, { removed: true });
      response.setHeader('retry-after', '1');
      return sendJson(response, 429, { code: 'too-many-changes', detail: 'slower' });
    });
    await using operator = new RestOperator({ url: new URL(server.url), token: TOKEN, timeout: 5000 });
    const answer = await operator.call(OPERATIONS.remove, { params: { name: 'job' }, body: {} });
    expect([answer, asked]).toEqual([{ removed: true }, 2]);
  });

  const COMMANDS = [
    ['status'],
    ['status', '--json'],
    ['explain', 'job'],
    ['nodes'],
    ['leaders'],
    ['history'],
    ['runs'],
    ['audit'],
    ['tasks', 'list'],
    ['allocation', 'list'],
    ['maintenance', 'list'],
    ['pause', 'job', '--reason', 'x'],
  ];
  const WRAPPED = { success: true, data: { semaphores: [] } };

  it.each<[string, string, string, string]>([
    ['wrapped', 'application/json', JSON.stringify(WRAPPED), 'an object with success, data, without "'],
    ['a list', 'application/json', '[]', 'a list'],
    ['null', 'application/json', 'null', 'null'],
    ['a page', 'text/html', '<html>', 'text/html that is no JSON'],
  ])('says of an answer that is not that of a console what it is, and what to do: %s', async (_, type, body, got) => {
    await using server = await FakeServer.start((_request, response) => {
      response.writeHead(200, { 'content-type': type }).end(body);
    });
    for (const args of COMMANDS) {
      const { exitCode, out, err } = await over(server.url, ...args);
      expect({ args, exitCode, out }).toEqual({ args, exitCode: args[0] === 'pause' ? 6 : 1, out: '' });
      expect(err).toMatch(new RegExp(`^gatekeeper: ${server.url}/api/[^ ]+ answered 200 with `));
      expect(err).toContain(got);
      expect(err).toContain('give the address of a console of this version with --url');
    }
  });

  it('says of a change whose answer is another one that its outcome is not known', async () => {
    await using server = await FakeServer.start((_request, response) => sendJson(response, 200, WRAPPED));
    const { err } = await over(server.url, 'pause', 'job', '--reason', 'x');
    expect(err).toContain('without "done", so it is not known what was done');
  });

  it('takes fields and values of a newer console that this version does not know', async () => {
    const health = { ...FULL_HEALTH, parts: [{ part: 'tomorrow', answeredAt: 1 }], tomorrow: true };
    const answer = { now: 1, semaphores: [], windows: [], tomorrow: true };
    await using server = await FakeServer.start(({ url }, response) =>
      sendJson(response, 200, url!.endsWith('/health') ? health : answer),
    );
    expect(await over(server.url, 'status')).toMatchObject({ exitCode: 0, err: '' });
  });

  it('says of a part that can not be read, while permits are granted, how old it is and why, and ends with 6', async () => {
    const sentence = "the history of runs can't be read (away)";
    const stale = [
      { part: 'runs', since: 1000, sentence },
      { part: 'nodes', sentence: 'never answered' },
    ];
    await using server = await FakeServer.start(({ url }, response) =>
      sendJson(response, 200, url!.endsWith('/health') ? FULL_HEALTH : { now: 1, semaphores: [], nodes: [], stale }),
    );
    const line = `NOT CURRENT, runs as of 1970-01-01 00:00:01Z: ${sentence}.`;
    const status = await over(server.url, 'status');
    expect(status).toMatchObject({ exitCode: 6, err: '' });
    expect(status.out).toMatch(
      new RegExp(
        `^${line.replace(/[().]/g, '\\$&')}\nNOT CURRENT, nothing is known about the nodes: never answered\\.\n`,
      ),
    );
    expect(JSON.parse((await over(server.url, 'status', '--json')).out).stale).toEqual(stale);
    const nodes = await over(server.url, 'nodes');
    expect(nodes).toMatchObject({ exitCode: 6, out: '' });
    expect(nodes.err).toContain(`${line} So the present state is not known`);
  });

  it('takes an empty list of what is out of date, of another console, for current', async () => {
    await using server = await FakeServer.start(({ url }, response) =>
      sendJson(
        response,
        200,
        url!.endsWith('/health') ? FULL_HEALTH : { now: 1, semaphores: [], windows: [], stale: [] },
      ),
    );
    expect(await over(server.url, 'status')).toMatchObject({ exitCode: 0, err: '' });
  });

  it.each(['constructor', 'toString', '__proto__'])(
    'ends by the status where the code of a refusal is "%s"',
    async (code) => {
      await using server = await FakeServer.start((_request, response) =>
        sendJson(response, 409, { code, detail: 'refused' }),
      );
      const outcome = await over(server.url, 'pause', 'job', '--reason', 'x');
      expect(outcome).toEqual({ exitCode: 4, out: '', err: 'gatekeeper: refused\n' });
    },
  );

  it.each([
    ['is not connected', { connected: false, members: 0, quorum: 0 }, 'not connected'],
    ['has no quorum', { ...HEALTH, problem: 'one member of three' }, 'one member of three'],
  ])('takes what a node knew last for no answer when its store %s', async (_, store, why) => {
    await using server = await FakeServer.start((request, response) => {
      const { connected, problem } = { problem: 'not connected', ...store };
      const faults = [{ code: 'store-failing', since: 1, sentence: problem, stopsGrants: true }];
      const stale = connected ? {} : { stale: [{ part: 'records', since: 1, sentence: problem }] };
      const down = { status: 'down', grants: false, now: 2, faults, ...stale };
      const health = { ...FULL_HEALTH, ...down, store: { ...HEALTH, ...store } };
      if (request.url!.endsWith('/health')) sendJson(response, 503, health);
      else
        sendJson(response, 200, { now: 1, semaphores: [], nodes: [], scopes: [], members: [], problems: [], ...stale });
    });
    const status = await over(server.url, 'status');
    expect(status).toMatchObject({ exitCode: 6, out: expect.stringMatching(/^NOTHING .* 1970-/) });
    expect(status.out).toContain(why);
    for (const command of ['nodes', 'dump', 'leaders']) {
      const { exitCode, out, err } = await over(server.url, command);
      expect({ command, exitCode, out }).toEqual({ command, exitCode: 6, out: '' });
      expect(err).toContain(why);
    }
  });
});
