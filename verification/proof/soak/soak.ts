import { setTimeout as pause } from 'node:timers/promises';
import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { compiledProgram } from '../../support/compiled-program.js';
import { sharedNow } from '../../apps/say.js';
import type { Sample } from '../../apps/soak/probe.js';
import type { LeakKind, SoakSettings } from '../../apps/soak/soak.settings.js';
import { NodeProcess } from '../../processes/cluster/node-process.js';
import type { Course, CourseEnding } from './course.js';

export interface SoakOptions {
  readonly minutes: number;
  readonly members: number;
  readonly names: number;
  readonly leak?: LeakKind;
}

const NODES = ['a', 'b', 'c'];
const APP = ['--expose-gc', compiledProgram('verification/apps/soak/main.ts')];
const MINUTE = 60_000;
/** ms between two samples of a process, less in a short soak. */
const SAMPLE_EVERY = 5000;
const FEWEST_LOOKS = 60;
/** ms after all nodes got a permit, or a sixth of a short soak: after connections are made, and so early that the second half has what is lost with it. */
const FIRST_RESTART = 30_000;
/** ms: so often that ten minutes see both members go in both ways. */
const RESTART_EVERY = 2 * MINUTE;
/** ms that a process may take to close, and to end after that. */
const LONGEST_CLOSE = 20_000;
const LONGEST_END = 5000;

/**
 * Lets three processes work on real members, one of which is restarted now and then, and closes them.
 *
 * @param interrupted ends it early
 */
export async function soak(
  options: SoakOptions,
  print: (text: string) => void,
  interrupted: AbortSignal,
): Promise<Course[]> {
  await using cluster = await startHazelcast({ members: options.members, jvmArgs: ['-XX:TieredStopAtLevel=4'] });
  const nodes = NODES.map((name, index) => startNode(name, index === 0, cluster, options));
  try {
    await Promise.all(nodes.map((node) => node.ready()));
    const began = sharedNow();
    print(`${nodes.length} processes and ${options.members} members work for ${options.minutes} minutes`);
    const over = new AbortController();
    const firstRestart = Math.min(FIRST_RESTART, (options.minutes * MINUTE) / 6);
    await Promise.all([
      restartMembers(cluster, firstRestart, print, over.signal),
      pause(options.minutes * MINUTE, undefined, { signal: interrupted })
        .catch(() => print('interrupted'))
        .finally(() => over.abort()),
    ]);
    return await Promise.all(nodes.map((node) => courseOf(node, began)));
  } finally {
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
  }
}

function startNode(name: string, isClientGiven: boolean, cluster: HazelcastCluster, options: SoakOptions): NodeProcess {
  const settings: SoakSettings = {
    name,
    clusterName: cluster.clusterName,
    members: cluster.addresses,
    jobs: [],
    isClientGiven,
    names: options.names,
    sampleEvery: Math.min(SAMPLE_EVERY, (options.minutes * MINUTE) / FEWEST_LOOKS),
    leak: options.leak,
  };
  return new NodeProcess(settings, { app: APP });
}

/** One after the other, in turn with a farewell and without; with a single member all its data are lost. */
async function restartMembers(
  { members }: HazelcastCluster,
  first: number,
  print: (text: string) => void,
  over: AbortSignal,
): Promise<void> {
  for (let count = 0; ; count++) {
    const isTime = await pause(count === 0 ? first : RESTART_EVERY, true, { signal: over }).catch(() => false);
    if (!isTime) return;
    const member = members[count % members.length]!;
    const isCrash = count % 2 === 1;
    print(`${isCrash ? 'kills' : 'stops'} and starts member ${member.index}`);
    await (isCrash ? member.kill() : member.stop());
    await member.start();
  }
}

async function courseOf(node: NodeProcess, began: number): Promise<Course> {
  const ending = await close(node);
  const samples = node
    .all('sample')
    .map((said) => ({ ...(said as unknown as Sample), minute: (said.at - began) / MINUTE }));
  return { node: node.name, samples, faults: node.faults, ending };
}

/** Asks it to close, and waits until it ends by itself. */
async function close(node: NodeProcess): Promise<CourseEnding> {
  const wasRunning = node.isRunning;
  node.signal('SIGUSR2');
  const closed = node.hears('closed', {}, { since: 0, within: LONGEST_CLOSE });
  const left = (await closed.catch(() => undefined)) as unknown as CourseEnding['left'];
  const patience = new AbortController();
  const isOver = pause(LONGEST_END, undefined, { signal: patience.signal }).catch(() => undefined);
  await Promise.race([node.ended, isOver]);
  patience.abort();
  // Ends it if it did not, which its exit code then tells.
  await node[Symbol.asyncDispose]();
  return { wasRunning, left, ...(await node.ended) };
}
