import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Client } from 'hazelcast-client';
import { jvmArguments } from '../../../lib/testing/hazelcast/jvm-arguments.js';
import { readLogLine } from '../../../lib/testing/hazelcast/member-log.js';
import { settleMember } from '../../../lib/testing/hazelcast/member-settings.js';
import { shippedConfig } from '../../../lib/testing/hazelcast/package-files.js';
import { supervised } from '../../../lib/testing/hazelcast/supervisor.js';
import { eventually } from '../../../test/contract/eventually.js';
import { fetchHazelcast, startHazelcast, type HazelcastCluster } from '../../../lib/testing/index.js';
import { describeOnHazelcast } from '../../needs/members.js';

const OWN = { clusterName: 'launcher-spec' };

/** Running: neither gone nor a zombie. */
function isAlive(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return false; // ps ends with 1 when there is no such process
  }
}

/** The states of the threads that a signal has not stopped. */
function runningThreads(pid: number): string[] {
  const states = execFileSync('ps', ['-L', '-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n');
  return states.filter((state) => !/^[TtZX]/.test(state));
}

function connect({ clusterName, addresses }: HazelcastCluster) {
  return Client.newHazelcastClient({
    clusterName,
    network: { clusterMembers: addresses },
    properties: { 'hazelcast.logging.level': 'OFF' },
  });
}

describeOnHazelcast('a cluster of two members', () => {
  let cluster: HazelcastCluster;
  beforeAll(async () => void (cluster = await startHazelcast({ members: 2, ...OWN })));
  afterAll(() => cluster.stop());

  it('serves a client, survives kill -9 of a member and takes it in again', async () => {
    const [first, second] = cluster.members;
    const client = await connect(cluster);
    const map = await client.getMap<string, string>('gatekeeper.records');
    await map.set('key', 'written before');

    const killed = first!.pid!;
    await first!.kill();
    expect([isAlive(killed), first!.running, first!.pid, second!.running]).toEqual([false, false, undefined, true]);
    expect(await map.get('key')).toBe('written before');

    await first!.start();
    expect(cluster.addresses).toContain(first!.address);
    expect(first!.pid).not.toBe(killed);
    await eventually('both members are seen', () => client.getCluster().getMembers().length === 2);
    await client.shutdown();
  });

  it('ends paused members too', async () => {
    const pids = cluster.members.map(({ pid }) => pid!);
    expect(pids.map(isAlive)).toEqual([true, true]);
    await cluster.members[1]!.pause();
    expect(runningThreads(pids[1]!)).toEqual([]);
    await cluster.stop();
    expect(pids.map(isAlive)).toEqual([false, false]);
  });
});

describeOnHazelcast('a single member', () => {
  it('writes nothing while fewer members are there than the minimum, and does with one more', async () => {
    await using cluster = await startHazelcast({ minimumClusterSize: 2, ...OWN });
    const client = await connect(cluster);
    const map = await client.getMap<string, string>('gatekeeper.records');
    await expect(map.set('key', 'value')).rejects.toThrow(/split brain protection/i);

    const added = await cluster.addMember();
    // A member that has just joined counts the others from their next heartbeats on.
    await eventually('it is written', () => map.set('key', 'value').then(() => true));
    await added.stop();
    expect(added.running).toBe(false);
    await client.shutdown();
  });

  it('runs behind a wrapper, whose pid is not the one reported', async () => {
    // As faketime does, it ends only when all that it started have closed a pipe.
    const wrapper = ['sh', '-c', '{ "$@" 4>&1 >&5 | cat; } 5>&1', 'wrapper'];
    await using cluster = await startHazelcast({ command: wrapper, ...OWN });
    const [member] = cluster.members;
    const { pid } = member!;
    expect(execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }).trim()).toBe('java');
    await member!.kill();
    expect(isAlive(pid!)).toBe(false);
  });

  it('that can not have its port fails with its last log lines', async () => {
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const { port } = occupant.address() as { port: number };
    await expect(startHazelcast({ basePort: port })).rejects.toThrow(/ended while it started[^]*already in use/);
    occupant.close();
  });
});

describeOnHazelcast('a process that is killed with SIGKILL', () => {
  let folder: string;
  beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'gatekeeper-'))));
  afterAll(() => rm(folder, { recursive: true }));

  /** A process that starts a member just as the launcher does, and shows the member's output as its own. */
  async function holder() {
    const member = await settleMember(0, {}, {}, []);
    const settings = { clusterName: OWN.clusterName, jar: await fetchHazelcast(), config: shippedConfig() };
    const { file, args } = supervised([], ['java', ...jvmArguments(settings, member, [member])]);
    const script = join(folder, 'holder.mjs');
    const options = `{ stdio: ['pipe', 'inherit', 1], detached: true }`;
    await writeFile(
      script,
      `import { spawn } from 'node:child_process';
       spawn(${JSON.stringify(file)}, ${JSON.stringify(args)}, ${options});`,
    );
    return spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  }

  async function startedPid(output: Readable): Promise<number> {
    let pid = 0;
    for await (const line of createInterface({ input: output })) {
      const event = readLogLine(line);
      if (event && 'pid' in event) pid = event.pid;
      if (event && 'started' in event) break;
    }
    return pid;
  }

  it.each(['running', 'paused'])('takes a %s member with it', async (state) => {
    const child = await holder();
    const pid = await startedPid(child.stdout);
    if (state === 'paused') process.kill(pid, 'SIGSTOP');
    expect(isAlive(pid)).toBe(true);
    child.kill('SIGKILL');
    try {
      await eventually('the member is gone', () => !isAlive(pid));
    } finally {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    }
  });
});
