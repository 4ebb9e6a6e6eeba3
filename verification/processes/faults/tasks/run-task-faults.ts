import { setTimeout as pause } from 'node:timers/promises';
import { Gatekeeper, SubmitManyError, grouped, hazelcast, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { NodeProcess, type NodeSaid } from '../../cluster/node-process.js';
import { GuardedResource } from '../../cluster/guarded-resource.js';
import { eventually } from '../../../../test/contract/eventually.js';
import { Chance } from '../../../../test/simulation/world/chance.js';
import { Site } from '../site.js';
import { TROUBLES, type TaskSite } from './task-troubles.js';
import { type TaskVerdict, judgeTasks } from './task-verdict.js';

export interface TaskFaultOptions {
  readonly seed: number;
  /** Number of tasks, in groups of {@link GROUP}. */
  readonly tasks: number;
  readonly folder: string;
  readonly print: (text: string) => void;
}

/** Members of a group. */
export const GROUP = 100;
/** Each task of this many has {@link PARTS} sub-tasks. */
const PARENTS = 10;
const PARTS = 2;
const NODES = 3;
/** ms that the work on one task takes, at most. */
const LONGEST_WORK = 100;
/** ms for all tasks that are left when the last trouble is over. */
const FINISHED_WITHIN = 180_000;
const QUIET = { log() {}, warn() {}, error() {}, debug() {} };

/**
 * Three nodes on three members work through tasks while nodes and members are killed, frozen and stopped at random, from
 * the first submission until all is done. Then the store, and what the nodes said, are judged.
 */
export async function runTaskFaults({ seed, tasks, folder, print }: TaskFaultOptions): Promise<TaskVerdict> {
  const chance = new Chance(seed);
  await using site = await Site.open({
    store: 'optimistic',
    quorum: true,
    memberClock: false,
    namespaces: false,
    folder,
  });
  await using resource = await GuardedResource.start();
  await using seats = new Seats(site, resource.url);
  await seats.open();
  const gatekeeper = await submitter(site);
  try {
    const began = performance.now();
    let isDone = false;
    const work = finishAll(gatekeeper, seats, tasks, chance.fork()).finally(() => (isDone = true));
    work.catch(() => undefined); // awaited below, after the last trouble
    const troubles = await disturb(seats, chance, () => isDone, print);
    await work;
    const seconds = (performance.now() - began) / 1000;
    return await judgeTasks({
      gatekeeper,
      tasks,
      group: GROUP,
      partsOf,
      said: seats.said,
      writes: resource.writes,
      troubles,
      seconds,
    });
  } finally {
    await gatekeeper.close();
  }
}

/** Number of sub-tasks of a member of a group. */
export function partsOf(number: number): number {
  return number % PARENTS === 0 ? PARTS : 0;
}

/** The processes that work. */
class Seats implements TaskSite, AsyncDisposable {
  readonly nodes: NodeProcess[] = [];
  readonly said: NodeSaid[] = [];
  #starts = 0;

  constructor(
    readonly site: Site,
    private readonly resource: string,
  ) {}

  async open(): Promise<void> {
    await Promise.all(Array.from({ length: NODES }, (_, seat) => this.restart(seat)));
  }

  async restart(seat: number): Promise<void> {
    const { clusterName, addresses: members } = this.site.cluster;
    const name = `node${seat}.${++this.#starts}`;
    const settings = { name, clusterName, members, resource: this.resource, store: { quorum: 2 } };
    // The events are not kept in the process object: there are very many.
    const onSaid = (said: NodeSaid) => void this.said.push(said);
    this.nodes[seat] = await NodeProcess.start({ ...settings, jobs: ['task-worker'] }, { onSaid });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node[Symbol.asyncDispose]()));
  }
}

async function submitter({ cluster }: Site): Promise<Gatekeeper> {
  const { clusterName, addresses: members } = cluster;
  const store = hazelcast({ clusterName, members, quorum: 2 });
  const gatekeeper = new Gatekeeper(parseGatekeeperOptions({ store, acquirer: 'submitter' }), QUIET);
  await gatekeeper.start();
  await gatekeeper.ready();
  return gatekeeper;
}

/** Submits all groups, again and again until each submission was answered, and waits until each group was joined. */
async function finishAll(gatekeeper: Gatekeeper, { said }: Seats, tasks: number, chance: Chance): Promise<void> {
  const groups = Array.from({ length: tasks / GROUP }, (_, index) => `g${index + 1}`);
  const requests = groups.flatMap((group) =>
    Array.from({ length: GROUP }, (_, index) => ({
      name: grouped('work', group, index + 1, GROUP),
      data: { number: index + 1, takes: chance.between(0, LONGEST_WORK), parts: partsOf(index + 1) },
      // A task may be on several nodes that die: here that says nothing about the task.
      options: { maxCrashes: 1000 },
    })),
  );
  for (let left = requests; left.length > 0;) {
    const outcomes = await gatekeeper.tasks.submitMany(left).catch((error: unknown) => {
      if (error instanceof SubmitManyError) return error.outcomes;
      throw error;
    });
    const tried = left;
    left = tried.filter((_, index) => outcomes[index] === undefined);
    if (left.length > 0) await pause(200);
  }
  const joined = () => new Set(said.filter(({ event }) => event === 'joined').map((each) => each['group']));
  let count = 0;
  while (count < groups.length) {
    const before = count;
    await eventually('another group is joined', () => (count = joined().size) > before, FINISHED_WITHIN);
  }
}

/** @returns how often each kind of trouble was made */
async function disturb(
  seats: Seats,
  chance: Chance,
  isDone: () => boolean,
  print: (text: string) => void,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const kinds = Object.keys(TROUBLES);
  for (let turn = 0; !isDone(); turn++) {
    await pause(chance.between(500, 2500));
    if (isDone()) break;
    // Each kind comes once in each round.
    const kind = kinds[turn % kinds.length]!;
    await TROUBLES[kind]!(seats, chance);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const worked = seats.said.filter(({ event }) => event === 'worked').length;
    print(`${kind}: ${worked} attempts so far`);
  }
  return counts;
}
