import { createServer } from 'node:net';
import { once } from 'node:events';
import { eventually } from '../../../test/contract/eventually.js';
import { type AppLine, BUSY, MORE_LINES, ON_HAZELCAST, RunningSample, isAlive } from './running-sample.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { describeOnRedis } from '../../needs/redis.js';

const EXPORTED = /\[nightly-export\] exported/;
const CLOCK_TOLERANCE = 500;
const SECOND = 1000;
const EXPORT = { tick: 2 * SECOND };
const REPORT = { duration: 4 * SECOND, tick: 10 * SECOND };

describeOnHazelcast('the sample: three processes and a real member', () => {
  let sample: RunningSample;
  beforeAll(async () => {
    sample = await RunningSample.start(ON_HAZELCAST);
    sample.press(MORE_LINES);
  });
  afterAll(() => sample?.[Symbol.asyncDispose]());

  it('answers on each port with the same state of permits', async () => {
    const names = ['mailing', 'nightly-export', 'report'];
    for (const port of sample.ports) {
      await eventually(`${port} knows all semaphores`, async () => {
        const { semaphores } = await sample.state(port);
        return names.every((name) => semaphores.some((semaphore) => semaphore.name === name));
      });
    }
  });

  it('exports on one node only, at every tick', async () => {
    // All exports since the start count, so the test waits only for those that are missing.
    await eventually('four exports', () => sample.lines(EXPORTED).length > 3, 10 * SECOND + 4 * EXPORT.tick + BUSY);
    const [first] = sample.lines(EXPORTED) as [AppLine];
    expect(new Set(sample.lines(EXPORTED).map(({ port }) => port))).toEqual(new Set([first.port]));
    const { semaphores } = await sample.state(first.port);
    const holders = semaphores.find(({ name }) => name === 'nightly-export')?.holders;
    expect(holders).toMatchObject([{ acquirer: `app-${first.port}`, isMine: true }]);
  });

  it('mails from two nodes, each its share', async () => {
    const nodes = () => new Map(sample.lines(/mailed/).map((line) => [line.port, line]));
    await eventually('two nodes mailed', () => nodes().size === 2, 20 * SECOND + BUSY);
    const shares = [...nodes().values()].map(({ text }) => /node (\d of 2) mailed (.*)/.exec(text)!.slice(1));
    expect(Object.fromEntries(shares)).toEqual({
      '0 of 2': 'Ada, Edsger, Grace, Nancy',
      '1 of 2': 'Barbara, Frances, Leslie, Niklaus',
    });
  });

  it('lets an operator pause a job at one port and resume it at another', async () => {
    const [one, other] = sample.ports as [number, number];
    /** @returns the status, and the answer if it is an error */
    const operate = async (port: number, verb: string) => {
      const response = await fetch(`http://127.0.0.1:${port}/gatekeeper/api/semaphores/mailing/${verb}`, {
        method: 'POST',
        headers: { authorization: 'Bearer sample-operator-token', 'content-type': 'application/json' },
        body: JSON.stringify({ reason: 'a test' }),
      });
      return response.ok ? '200' : `${response.status} ${await response.text()}`;
    };
    expect((await fetch(`http://127.0.0.1:${one}/gatekeeper/api/semaphores`)).status).toBe(401);
    expect(await operate(one, 'pause')).toBe('200');
    const { semaphores } = await sample.state(other);
    expect(semaphores.find(({ name }) => name === 'mailing')).toMatchObject({ pause: { by: 'ann', reason: 'a test' } });
    expect(await operate(other, 'resume')).toBe('200');
    await sample.nextLine(/mailed/, 20 * SECOND);
  });

  it('takes one import per tenant, and says who is in the way of a second one', async () => {
    const [one, other] = sample.ports as [number, number];
    const first = sample.post(one, '/imports/acme');
    await eventually('the first import holds its permit', async () => {
      const { semaphores } = await sample.state(other);
      return semaphores.some(({ name, holders }) => name === 'import-acme' && holders.length === 1);
    });
    for (const port of [one, other]) {
      const refused = await sample.post(port, '/imports/acme');
      expect([refused.status, await refused.json()]).toMatchObject([409, { heldBy: [{ acquirer: `app-${one}` }] }]);
    }
    expect(await (await first).json()).toMatchObject({ tenant: 'acme', importedBy: `app-${one}` });
    expect((await sample.post(other, '/imports/acme')).status).toBe(201);
  });

  it('writes nothing under a permit that was lost while the process was frozen', async () => {
    const frozen = await sample.nextLine(/page 2 of 8/, 2 * REPORT.tick);
    process.kill(sample.pid(frozen.port), 'SIGSTOP');
    const others = sample.others(frozen.port);
    const within = REPORT.duration + CLOCK_TOLERANCE + SECOND + REPORT.tick + SECOND;
    const successor = await sample.nextLine(/page 1 of 8/, within, others);
    const [stale, fresh] = [frozen, successor].map(({ text }) => Number(/token (\d+)/.exec(text)?.[1]));
    expect(fresh).toBeGreaterThan(stale!);

    const woken = performance.now();
    process.kill(sample.pid(frozen.port), 'SIGCONT');
    const stopped = await sample.nextLine(/stopped/, 5 * SECOND, [frozen.port]);
    expect(stopped.text).toContain('"report"');
    await sample.nextLine(/page 8 of 8/, REPORT.tick, others);
    expect(sample.lines(new RegExp(`archived, with token ${stale}`), woken)).toEqual([]);
    const { documents } = await archive();
    expect(new Set(documents.map(({ token }) => token))).toEqual(new Set([fresh]));

    // Had it frozen a moment later, after it looked at its clocks: the archive refuses what it sends.
    const late = await fetch(`${sample.archiveUrl}/report/0/page-1?token=${stale}`, { method: 'PUT' });
    expect(late.status).toBe(409);
    expect((await archive()).refused).toEqual([
      { place: 'report/0', document: 'page-1', token: stale, highest: fresh },
    ]);
  });

  it('leaves nothing behind on Ctrl-C, not even a frozen app', async () => {
    const { pids } = sample;
    expect(pids).toHaveLength(1 + sample.ports.length + 1);
    const living = sample.ports.find((port) => isAlive(sample.pid(port)))!;
    process.kill(sample.pid(living), 'SIGSTOP');
    expect(await sample.interrupt()).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  async function archive() {
    const answer = await fetch(sample.archiveUrl);
    return (await answer.json()) as { documents: { document: string; token: number }[]; refused: unknown[] };
  }
});

describe('the sample, when a port is in use', () => {
  it('says which one and what to do, and starts nothing', async () => {
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const { port } = occupant.address() as { port: number };
    const sample = await RunningSample.begin([port]);
    expect(await sample.exitCode()).toBe(1);
    expect(sample.output).toMatch(
      new RegExp(`^Port ${port} can't be used .*EADDRINUSE.*: SAMPLE_PORTS=.* npm run sample$`),
    );
    occupant.close();
  });
});

describeOnRedis('the sample, when its output has no reader any more', () => {
  it('ends all that it started', async () => {
    const env = { ...process.env, REDIS_URL: '' };
    await using sample = await RunningSample.start({ args: ['--store', 'redis'], env });
    const { pids } = sample;
    expect(pids.filter(isAlive)).toEqual(pids);
    sample.stopReading();
    await eventually('all have ended', () => !pids.some(isAlive));
  });
});
