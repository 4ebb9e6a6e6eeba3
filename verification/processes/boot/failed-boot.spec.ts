import { execa } from 'execa';
import { freePort } from '../../../lib/testing/hazelcast/free-port.js';
import { describeUnless } from '../../../test/support/unless.js';
import { lackOfRedis } from '../../needs/redis.js';
import { compiledProgram } from '../../support/compiled-program.js';
import { PostgresServer, lackOfPostgres } from '../../support/postgres-server.js';
import { RedisServer } from '../../support/redis-server.js';
import type { FailingApp } from './failing-app.js';

const PROGRAM = compiledProgram('verification/processes/boot/failing-app.ts');
/** ms. A process that something keeps alive would never end; a client that is cut off closes within 3 s. */
const MOST = 15_000;

/** What the process printed, once it has ended by itself. */
async function endOf(app: FailingApp): Promise<string> {
  const { stdout } = await execa('node', [PROGRAM, JSON.stringify(app)], { timeout: MOST });
  return stdout;
}

const HOOK = 'a hook failed';
const NOT_READY = expect.stringMatching(/^not ready within 1000 ms: /);

describeUnless(lackOfRedis ?? lackOfPostgres)('a process whose application does not boot ends', () => {
  let redis: RedisServer;
  let postgres: PostgresServer;
  beforeAll(async () => {
    [redis, postgres] = await Promise.all([RedisServer.start(), PostgresServer.start()]);
  });
  afterAll(async () => {
    await redis?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  it('after a hook failed', async () => {
    const printed = await Promise.all([
      endOf({ redis: redis.url, phase: 'hook' }),
      endOf({ postgres: postgres.address(), phase: 'hook' }),
    ]);
    expect(printed).toEqual([HOOK, HOOK]);
  });

  it('although it was only made', async () => {
    const printed = await Promise.all([
      endOf({ redis: redis.url, phase: 'made' }),
      endOf({ postgres: postgres.address(), phase: 'made' }),
      endOf({ hazelcast: '127.0.0.1:1', phase: 'made' }),
    ]);
    expect(printed).toEqual(['made', 'made', 'made']);
  });

  it('although its store is away', async () => {
    const nowhere = `127.0.0.1:${await freePort('127.0.0.1', new Set())}`;
    const printed = await Promise.all([
      endOf({ redis: `redis://${nowhere}`, phase: 'away' }),
      endOf({ postgres: `postgres://app@${nowhere}/app`, phase: 'away' }),
      endOf({ hazelcast: nowhere, phase: 'away' }),
    ]);
    expect(printed).toEqual([NOT_READY, NOT_READY, NOT_READY]);
  });
});
