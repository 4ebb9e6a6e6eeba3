import { setTimeout as pause } from 'node:timers/promises';
import type { HazelcastMember } from 'nestjs-gatekeeper/testing';
import type { NodeProcess } from '../../cluster/node-process.js';
import type { Chance } from '../../../../test/simulation/world/chance.js';
import type { Site } from '../site.js';

/** The members and nodes of a run with tasks. */
export interface TaskSite {
  readonly site: Site;
  /** The nodes by seat. A seat gets a new process when its process has ended. */
  readonly nodes: NodeProcess[];
  /** Starts a new process at a seat. */
  restart(seat: number): Promise<void>;
}

type Trouble = (on: TaskSite, chance: Chance) => Promise<void>;

/** All kinds of trouble. At most one node, or one member, is away at a time: more may lose data, which is another promise. */
export const TROUBLES: Readonly<Record<string, Trouble>> = {
  'kill a node': async (on, chance) => {
    const seat = chance.whole(0, on.nodes.length - 1);
    await on.nodes[seat]!.kill();
    await pause(chance.between(0, 3000));
    await on.restart(seat);
  },
  'stop a node': async (on, chance) => {
    const seat = chance.whole(0, on.nodes.length - 1);
    on.nodes[seat]!.signal('SIGTERM');
    await on.nodes[seat]!.ended;
    await on.restart(seat);
  },
  'freeze a node': async (on, chance) => {
    const node = chance.pick(on.nodes);
    node.freeze();
    // From a hiccup to far beyond the lease of its tasks.
    await pause(chance.between(500, 6000));
    node.thaw();
  },
  'kill a member': (on, chance) =>
    toMember(on, chance, async (member) => {
      await member.kill();
      await pause(chance.between(0, 4000));
      await member.start();
    }),
  'freeze a member': (on, chance) =>
    toMember(on, chance, async (member) => {
      await member.pause();
      await pause(chance.between(500, 6000));
      member.resume();
    }),
};

async function toMember(
  { site }: TaskSite,
  chance: Chance,
  act: (member: HazelcastMember) => Promise<void>,
): Promise<void> {
  await act(chance.pick(site.cluster.members));
  await site.whole();
}
