import { grouped, single } from 'nestjs-gatekeeper';
import { partsOf } from '../../../lib/gatekeeper/parts.js';
import { LARGE } from '../tasks/watched-node.js';
import { PLATFORMS, TOKENS, useConsoles } from '../../../test/console/consoles.js';
import { FarClient } from './far-client.js';
import { LongestBlock } from '../../../test/console/longest-block.js';

/** ms; what no request may take up of the event loop in one go. */
const LIMIT = 20;
const TRIES = 8;
const AT_ONCE = 10;
const MEMBERS = 200;
const EACH_CLAIM = 16;
const CLAIMED = (1 + EACH_CLAIM) * AT_ONCE * TRIES;

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** Bytes of the answer. */
  readonly atLeast: number;
}

const of = (method: string, path: string, atLeast: number, body?: object): Request => ({
  method,
  path: `/api/${path}`,
  atLeast,
  ...(body && { body }),
});

describe.each(PLATFORMS)('tasks with the largest data on %s', (platform) => {
  const start = useConsoles();
  const owned: { close(): unknown }[] = [];
  afterEach(() => Promise.all(owned.splice(0).map((each) => each.close())));
  const own = <T extends { close(): unknown }>(each: T): T => (owned.push(each), each);

  it('block the event loop for no more than 20 ms, ten requests at once', async () => {
    const { gatekeeper, url } = await start({ platform, gatekeeper: { heartbeat: '1h', sweepInterval: '1h' } });
    const { tasks } = partsOf(gatekeeper);
    await tasks.submitMany([
      ...Array.from({ length: MEMBERS }, (_, at) => ({ name: grouped('member', 'all', at + 1, MEMBERS), data: LARGE })),
      ...Array.from({ length: CLAIMED }, (_, at) => ({ name: single('claimed', String(at)), data: LARGE })),
    ]);
    let count = 0;
    const held = async (): Promise<Request> => {
      const worker = { instance: 'http:otto', acquirer: 'otto' };
      const { signal } = new AbortController();
      const claim = { worker, types: ['claimed'], most: 1, lease: 600_000, wait: 0, signal };
      const { id, token } = (await (await tasks.open()).external.claim(claim)).tasks[0]!.claim.task;
      return of('POST', `tasks/${encodeURIComponent(id)}/complete`, 10, { token, result: LARGE });
    };
    const requests: Record<string, () => Request | Promise<Request>> = {
      list: () => of('GET', 'tasks?state=waiting', 5000),
      task: () => of('GET', 'tasks/member%5Ball%5D%237', LARGE.length),
      types: () => of('GET', 'task-types', 50),
      groups: () => of('GET', 'task-groups', 50),
      group: () => of('GET', 'task-groups/member%5Ball%5D', 10_000),
      submit: () => of('POST', 'tasks', 10, { id: `submitted:${count++}`, data: LARGE }),
      complete: held,
      claim: () => of('POST', 'tasks/claim', EACH_CLAIM * LARGE.length, { types: ['claimed'], max: EACH_CLAIM }),
    };
    const client = own(new FarClient());
    const block = own(new LongestBlock());
    const headers = { authorization: `Bearer ${TOKENS.operate}`, 'content-type': 'application/json' };
    const longest: Record<string, number> = {};
    for (const [what, make] of Object.entries(requests)) {
      let least = Infinity;
      for (let attempt = 0; attempt < TRIES && least > LIMIT; attempt++) {
        const made = await Promise.all(Array.from({ length: AT_ONCE }, make));
        const sent = made.map(({ method, path, body }) => ({
          url: url + path,
          method,
          headers,
          ...(body && { body: JSON.stringify(body) }),
        }));
        block.take();
        const answers = await client.send(sent);
        least = Math.min(least, block.take());
        for (const [index, { status, length }] of answers.entries()) {
          expect([what, status < 300, length >= made[index]!.atLeast]).toEqual([what, true, true]);
        }
      }
      longest[what] = Math.round(least * 10) / 10;
    }
    console.log(platform, JSON.stringify(longest));
    expect(Object.entries(longest).filter(([, ms]) => ms > LIMIT)).toEqual([]);
  });

  it.each(['0', '[]'])('block it no longer where a body has many small values, which is refused: %s', async (value) => {
    const { url } = await start({ platform });
    // Express reads bodies of up to 100 kB, Fastify of up to 1 MiB.
    const count = Math.floor((platform === 'Express' ? 99_000 : 1_000_000) / (value.length + 1));
    const body = `{"id":"mail:many","data":[${Array(count).fill(value).join(',')}]}`;
    const headers = { authorization: `Bearer ${TOKENS.operate}`, 'content-type': 'application/json' };
    const client = own(new FarClient());
    const block = own(new LongestBlock());
    let least = Infinity;
    for (let attempt = 0; attempt < TRIES && least > LIMIT; attempt++) {
      block.take();
      const [answer] = await client.send([{ url: `${url}/api/tasks`, method: 'POST', headers, body }]);
      least = Math.min(least, block.take());
      expect(answer!.status).toBe(413);
    }
    expect(least).toBeLessThan(LIMIT);
  });
});
