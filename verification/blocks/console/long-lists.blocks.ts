import { memory } from 'nestjs-gatekeeper';
import { PLATFORMS, TOKENS, useConsoles } from '../../../test/console/consoles.js';
import { FarClient } from './far-client.js';
import { fill, fillPast } from './long-lists.js';
import { LongestBlock } from '../../../test/console/longest-block.js';

/** ms; what no request may take up of the event loop in one go. */
const LIMIT = 20;
const TRIES = 8;
const AT_ONCE = 10;
const SEMAPHORES = Number(process.env.SEMAPHORES ?? 5000);
const LENGTHS = { semaphores: SEMAPHORES, nodes: 1000, entries: 10_000 };

const PAST = { ...LENGTHS, semaphores: 10_000 };

const GET = { method: 'GET' } as const;
const MIGRATION = { names: '.*', to: { groupPattern: 'zone1' }, limit: 20, dryRun: true };
const DEFINITION = { name: 'x', groupPattern: 'zone1', acquirerPattern: '.*', permits: 1, duration: '1m' };

/** Each with the fewest bytes of its answer, where it tells that the whole list is in it. */
const REQUESTS: readonly { method: string; path: string; body?: object; atLeast?: number; token?: string }[] = [
  { ...GET, path: '/api/semaphores', atLeast: 300 * SEMAPHORES },
  { ...GET, path: '/api/semaphores?search=team-7', atLeast: 1000 },
  { ...GET, path: '/api/semaphores/team-0-job-0' },
  { ...GET, path: '/api/nodes', atLeast: 1000 * LENGTHS.nodes },
  { ...GET, path: '/api/audit?limit=10000', atLeast: 300 * LENGTHS.entries },
  { ...GET, path: '/api/audit?limit=100&semaphore=team-0-job-0' },
  { ...GET, path: '/api/history?limit=10000', atLeast: 100 * LENGTHS.entries },
  { ...GET, path: '/api/history?show=ok&limit=10000', atLeast: 100 * LENGTHS.entries },
  { ...GET, path: '/api/history?since=30d' },
  { ...GET, path: '/api/jobs', atLeast: 300 * 5000 },
  { ...GET, path: '/api/explain/team-0-job-0' },
  { ...GET, path: '/api/session' },
  { ...GET, path: '/api/health' },
  { ...GET, path: '/api/openapi.json' },
  { method: 'POST', path: '/api/preview', body: DEFINITION },
  { method: 'POST', path: '/api/migrations', body: MIGRATION, atLeast: 20 * 300 },
  {
    method: 'POST',
    path: '/api/store/page',
    body: { prefix: 'semaphore:' },
    token: TOKENS.node,
  },
];

describe.each(PLATFORMS)('lists of thousands on %s', (platform) => {
  const start = useConsoles();
  const owned: { close(): unknown }[] = [];
  afterEach(() => Promise.all(owned.splice(0).map((each) => each.close())));
  const own = <T extends { close(): unknown }>(each: T): T => (owned.push(each), each);

  it('block the event loop for no more than 20 ms, alone and ten at once', async () => {
    const definition = memory();
    const store = own(definition.open());
    const { url } = await start({ platform, store: definition, gatekeeper: { heartbeat: '1h', sweepInterval: '1h' } });
    await fill(store, LENGTHS);
    await fillPast(store, PAST);
    const client = own(new FarClient());
    const block = own(new LongestBlock());
    const tooLong: unknown[] = [];
    for (const { method, path, body, atLeast = 1, token = TOKENS.define } of REQUESTS) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const request = { url: url + path, method, headers, ...(body && { body: JSON.stringify(body) }) };
      for (const count of [1, AT_ONCE]) {
        let least = Infinity;
        for (let attempt = 0; attempt < TRIES && least > LIMIT; attempt++) {
          block.take();
          const answers = await client.send(Array.from({ length: count }, () => request));
          least = Math.min(least, block.take());
          for (const { status, length } of answers)
            expect([path, status, length >= atLeast]).toEqual([path, 200, true]);
        }
        if (process.env.FIGURES)
          process.stderr.write(`${platform} ${count} x ${method} ${path}: ${least.toFixed(1)} ms\n`);
        if (least > LIMIT) tooLong.push([least, `${count} x ${method} ${path}`]);
      }
    }
    expect(tooLong).toEqual([]);
  });
});
