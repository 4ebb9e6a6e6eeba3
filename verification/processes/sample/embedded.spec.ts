import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../lib/testing/hazelcast/free-port.js';
import { eventually } from '../../../test/contract/eventually.js';
import { ROOT, compiledPath } from '../../../tools/test/compile.mjs';
import { BUSY, MORE_LINES, RunningSample, isAlive } from './running-sample.js';

const NODE = compiledPath(join(ROOT, 'sample-app/src/main.ts'));
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';
const TOKEN = 'sample-operator-token';
const QUEUES = 12;
const SECOND = 1000;
const EXPORTED = /\[nightly-export\] exported/;
const POLLED = /\[poller\] polled/;
/** Until others do the work of a node that was killed: a permit or a lease, the clock tolerance, a tick. */
const MOVED = 10 * SECOND;

describe('the sample without a choice of a store', () => {
  let nothing: string;
  let sample: RunningSample;
  beforeAll(async () => {
    nothing = await mkdtemp(join(tmpdir(), 'gatekeeper-no-programs-'));
    const { JAVA_HOME: _, ...env } = process.env;
    // Where PATH leads to no program, it needs nothing but Node.
    sample = await RunningSample.start({ env: { ...env, PATH: nothing, TASK_DURATION: '800' } });
  });
  afterAll(async () => {
    await sample?.[Symbol.asyncDispose]();
    await rm(nothing, { recursive: true });
  });

  it('runs three processes, which share a store in the memory of a fourth', () => {
    expect(sample.output).toContain('one store, in the memory of this process');
    expect(new Set(sample.pids).size).toBe(4);
    expect(sample.pids.filter(isAlive)).toEqual(sample.pids);
    expect(sample.output).not.toMatch(/\[Nest|Mapped/);
  });

  it('has one leader, which alone polls, and one node that exports', async () => {
    await eventually('two exports and polls', () => lineCount(EXPORTED) > 1 && lineCount(POLLED) > 1, 2 * MOVED + BUSY);
    const states = await Promise.all(sample.ports.map((port) => sample.delivery(port)));
    expect(sample.ports.filter((_, place) => states[place]!.isLeader)).toEqual(portsOf(POLLED));
    expect(portsOf(EXPORTED)).toHaveLength(1);
  });

  it('divides the queues evenly over its nodes', () => dividedOver(sample.ports));

  it('shows all nodes and no other at every console', async () => {
    const names = sample.ports.map((port) => `app-${port}`).toSorted();
    for (const port of sample.ports) {
      const isSeen = async () => (await acquirersAt(port)).length >= 3 && acquirersAt(port);
      expect(await eventually('the console sees three nodes', isSeen, MOVED + BUSY)).toEqual(names);
    }
  });

  it('lets others lead, export, own the queues and do the tasks of a process after kill -9', async () => {
    const leader = await leaderOf(sample.ports);
    const token = tokenOf(sample.lines(POLLED).at(-1)!.text);
    const others = sample.others(leader);
    sample.press('t');
    await eventually(
      'each node has done tasks',
      async () => nodesOf(await ledger('record-sets')).size === 3,
      MOVED + BUSY,
    );
    const pid = sample.pid(leader);
    process.kill(pid, 'SIGKILL');

    const polled = await sample.nextLine(POLLED, MOVED, others);
    expect(tokenOf(polled.text)).toBeGreaterThan(token);
    expect(sample.output).toContain(`app-${leader} (pid ${pid}) has ended: SIGKILL.`);
    await sample.nextLine(EXPORTED, MOVED, others);
    expect(others).toContain(await leaderOf(others));
    await dividedOver(others);
    const isDone = async () => (await ledger('closed-months')).length > 0;
    await eventually('both joins of the tasks ran', isDone, 60 * SECOND);
    const sets = await ledger('record-sets');
    expect([sets.length, new Set(sets.map(({ id }) => id)).size]).toEqual([100, 100]);
    expect(await ledger('closed-months')).toMatchObject([{ failed: 0 }]);
  });

  it('says who has what', async () => {
    const [down] = sample.ports.filter((port) => !isAlive(sample.pid(port))) as [number];
    sample.press('w');
    await eventually('the node is down', () => sample.output.includes(`app-${down}  down`));
    for (const port of sample.others(down)) {
      const { owned } = await sample.delivery(port);
      expect(sample.output).toContain(`owns ${owned.map(({ queue }) => queue).join(', ')}`);
    }
    expect(sample.output.match(/app-\d+ {2}leads, holds/g)).toHaveLength(1);
  });

  it('starts the process again at its key, as another instance, which gets its share', async () => {
    const place = sample.ports.findIndex((port) => !isAlive(sample.pid(port)));
    const port = sample.ports[place]!;
    sample.press(String(place + 1));
    await eventually('it runs again', () => /runs again, as a new instance/.test(sample.output), MOVED + BUSY);
    expect(isAlive(sample.pid(port))).toBe(true);
    await dividedOver(sample.ports);
  });

  it('kills a process at its key, which the launcher notices in the same way', async () => {
    const pid = sample.pid(sample.ports[1]!);
    sample.press('2');
    await eventually('its end has a line', () => sample.output.includes(`(pid ${pid}) has ended: SIGKILL.`));
    expect(isAlive(pid)).toBe(false);
    sample.press('2');
    await eventually('it runs again', () => isAlive(sample.pid(sample.ports[1]!)), MOVED + BUSY);
  });

  it('has a line for each message only when it is asked for, from a process that was started again, too', async () => {
    expect(sample.lines(/delivered message/)).toEqual([]);
    sample.press(MORE_LINES);
    await sample.nextLine(/delivered message/, 20 * SECOND, [sample.ports[1]!]);
  });

  it('sends the digest of its schedule when the tasks of its group have ended', async () => {
    const sent = () => sample.lines(/sent the digest/)[0] ?? false;
    const { text } = await eventually('a digest', sent, 60 * SECOND);
    const shares = [...text.matchAll(/(\d) by app-\d+/g)].map(([, count]) => Number(count));
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(6);
  });

  it('leaves nothing behind on Ctrl-C, not even a frozen process', async () => {
    const { pids } = sample;
    process.kill(sample.pid(sample.ports[0]!), 'SIGSTOP');
    expect(await sample.interrupt()).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  const lineCount = (pattern: RegExp) => sample.lines(pattern).length;
  const portsOf = (pattern: RegExp) => [...new Set(sample.lines(pattern).map(({ port }) => port))];

  async function leaderOf(ports: readonly number[]): Promise<number> {
    const one = async () => {
      const states = await Promise.all(ports.map((port) => sample.delivery(port)));
      const leaders = ports.filter((_, place) => states[place]!.isLeader);
      return leaders.length === 1 && leaders[0]!;
    };
    return eventually('one node leads', one, MOVED + BUSY);
  }

  function dividedOver(ports: readonly number[]): Promise<unknown> {
    const isDivided = async () => {
      const states = await Promise.all(ports.map((port) => sample.delivery(port)));
      return states.every(({ owned }) => owned.length === QUEUES / ports.length);
    };
    return eventually(`${ports.join(', ')} share the queues`, isDivided, 2 * MOVED + BUSY);
  }

  async function acquirersAt(port: number): Promise<string[]> {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await fetch(`http://127.0.0.1:${port}/gatekeeper/api/nodes`, { headers });
    const { nodes } = (await answer.json()) as { nodes: { acquirer: string }[] };
    return nodes.map(({ acquirer }) => acquirer).toSorted();
  }

  async function ledger(book: string): Promise<{ id: string; node: string }[]> {
    const answer = await fetch(`${sample.archiveUrl}/ledger/${book}`);
    return (await answer.json()) as { id: string; node: string }[];
  }
});

describe('the launcher of the sample, killed with kill -9', () => {
  it('leaves no process behind', async () => {
    await using sample = await RunningSample.start();
    const { pids } = sample;
    expect(pids).toHaveLength(4);
    await sample.killLauncher();
    await eventually('all processes have ended', () => !pids.some(isAlive), 10 * SECOND);
  });
});

describe('a node of the sample that writes nothing', () => {
  it.each(['it serves', 'it boots'])('ends when its launcher dies while %s', async (state) => {
    const [port, env] = [
      await freePort('127.0.0.1', new Set()),
      { ...process.env, QUIET: 'true', ARCHIVE_URL: NOWHERE },
    ];
    const node = fork(NODE, { env: { ...env, PORT: String(port) }, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    try {
      if (state === 'it serves') await once(node, 'message');
      node.disconnect();
      const hasEnded = () => node.exitCode !== null || node.signalCode !== null;
      await eventually('its end', hasEnded, 10 * SECOND + BUSY);
    } finally {
      node.kill('SIGKILL');
    }
  });
});

describe('the sample on a server that is missing', () => {
  it('says how to go on', async () => {
    const nothing = await mkdtemp(join(tmpdir(), 'gatekeeper-no-programs-'));
    const { JAVA_HOME: _, HAZELCAST_MEMBERS: _members, CI: _ci, ...env } = process.env;
    await using sample = await RunningSample.begin([], {
      args: ['--store', 'hazelcast'],
      env: { ...env, PATH: nothing, GATEKEEPER_CACHE: nothing },
    });
    expect(await sample.exitCode()).toBe(1);
    expect(sample.output).toMatch(
      /^Java is missing: install Java 17 or newer .*, or start the sample without --store$/m,
    );
    await rm(nothing, { recursive: true });
  });
});

const nodesOf = (entries: readonly { readonly node: string }[]) => new Set(entries.map(({ node }) => node));

const tokenOf = (text: string) => Number(/token (\d+)/.exec(text)![1]);
