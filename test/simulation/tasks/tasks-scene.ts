import { type GatekeeperSettings, parseGatekeeperOptions } from '../../../lib/gatekeeper/index.js';
import { MemoryCluster } from '../../../lib/stores/memory/memory-cluster.js';
import type { StoreDefinition } from '../../../lib/core/store/index.js';
import type { GroupContext, SubmitOptions, TaskContext } from '../../../lib/tasks/index.js';
import { FAULT_MIXES, type FaultMix } from '../kind/fault-mix.js';
import { LENGTHS } from '../kind/length.js';
import { SimProcess } from '../machines/sim-process.js';
import { StoreCluster } from '../store/store-cluster.js';
import { Chance } from '../world/chance.js';
import { Trace } from '../world/trace.js';
import { VirtualTime } from '../world/virtual-time.js';
import type { SharedTasks } from './faulty-tasks.js';
import { StopPlan } from './stop-plan.js';
import { StoppedGroups } from './stopped-groups.js';
import type { PlannedLink } from './chain-plan.js';
import { ScheduleChecker } from './schedule-checker.js';
import { planSchedule } from './schedule-plan.js';
import { FairTasks } from './fair-tasks.js';
import { SentTasks } from './sent-tasks.js';
import { TYPES, TaskNode } from './task-node.js';
import { AttemptsChecker } from './attempts-checker.js';
import { TasksChecker } from './tasks-checker.js';
import { TypeLimits } from './type-limits.js';
import { type TreePlan, planTrees } from './tree-plan.js';

/** True time in ms for which trouble lasts. */
export const TROUBLE = 15_000;

const TROUBLES = ['calls', 'hints', 'slow', 'crash', 'freeze', 'cut', 'outage', 'leave'] as const;
/**
 * `by-hand`: people cancel and retry tasks. `stops`: members fail their groups, and people cancel groups. `unique`: tasks
 * are submitted again while they wait or run. `addressed`: tasks have targets. `fair`: tasks have fair keys. `clocks`: the
 * clocks of all members jump ahead.
 */
export const TASK_FAULTS = [...TROUBLES, 'by-hand', 'stops', 'unique', 'addressed', 'fair', 'clocks'] as const;
export type TaskFaultKind = (typeof TASK_FAULTS)[number];

/** Stands where each node puts a store with faults of its own. */
const EACH_ITS_OWN: StoreDefinition = {
  kind: 'simulated',
  open: () => {
    throw new Error('a node of the simulation has to bring its own store');
  },
};

const SETTINGS = parseGatekeeperOptions({ store: EACH_ITS_OWN, heartbeat: 0, history: false });

/** ms: the shortest retention that the product takes. */
const SHORTEST_MEMORY = 60_000;
/** So many tries that chance never ends a task. */
const TRIES = { maxAttempts: 1000, maxCrashes: 1000, backoff: { first: 50, longest: 500 } };
/** ms. A node that has decided about ticks stays frozen until these are forgotten. */
const LONG_FREEZE = { least: 70_000, most: 110_000 };

/** All that the parts of one schedule share. */
export class TasksScene {
  readonly chance: Chance;
  readonly time = new VirtualTime();
  readonly trace: Trace;
  readonly checker: TasksChecker;
  readonly cluster: StoreCluster;
  readonly shared: SharedTasks = new MemoryCluster(() => 0);
  readonly settings: GatekeeperSettings;
  readonly faults: ReadonlySet<TaskFaultKind>;
  readonly nodes: TaskNode[] = [];
  /** Ids of all tasks that the application submits. */
  readonly wanted = new Set<string>();
  readonly trees: TreePlan;
  readonly stops: StopPlan;
  /** Whether handlers report their progress. */
  readonly hasReports: boolean;
  readonly stopped: StoppedGroups;
  readonly attempts: AttemptsChecker;
  /** Tasks that run after others, by id. */
  readonly links = new Map<string, PlannedLink>();
  readonly lease: number;
  readonly grace: number;
  readonly callTimeout: number;
  /** Present in half of the schedules. */
  readonly limits?: TypeLimits;
  /** Present in a quarter of the schedules: the nodes have a cron schedule. */
  readonly schedule?: ScheduleChecker;
  readonly sent?: SentTasks;
  readonly fair?: FairTasks;
  /** Nodes that stay frozen for longer than ticks are remembered. */
  readonly #frozen = new Set<TaskNode>();
  /** ms for which tasks are remembered, but for ticks: longer than what a process does can be late, as the product asks. */
  readonly memory: number;
  isTrouble = false;
  /** Until the nodes leave. */
  isAtWork = true;
  #processes = 0;

  constructor(
    readonly seed: number,
    isTraced: boolean,
    faults?: readonly TaskFaultKind[],
  ) {
    const chance = new Chance(seed);
    this.trees = planTrees(chance.beside());
    this.chance = chance;
    this.trace = new Trace(this.time, isTraced);
    this.checker = new TasksChecker(this.trace, this.links);
    this.attempts = new AttemptsChecker(this.checker);
    this.stopped = new StoppedGroups(this.time, this.checker);
    const drawn = () => TROUBLES.filter(() => chance.happens(0.45));
    this.faults = new Set(faults ?? [...drawn(), ...besides(seed)]);
    this.hasReports = seed % 5 === 0;
    this.stops = new StopPlan(new Chance(seed + 7), this.faults.has('stops'));
    const tolerance = chance.pick([60, 200]);
    this.lease = Math.round(tolerance * chance.skewed(4, 20)) + 200;
    this.grace = chance.whole(10, 2 * this.lease);
    this.callTimeout = chance.pick([300, 1000, 2000]);
    // A node that starts meanwhile can't see that the clocks jumped.
    const strictStart = this.faults.has('clocks') && TROUBLES.some((trouble) => this.faults.has(trouble));
    this.settings = { ...SETTINGS, clockTolerance: tolerance, callTimeout: this.callTimeout, strictStart };
    this.cluster = new StoreCluster(
      FAULT_MIXES.none,
      { ...LENGTHS.long(tolerance, chance.fork()), horizon: TROUBLE / 2 },
      { time: this.time, trace: this.trace, chance: chance.fork(), onWrite: () => undefined },
    );
    const limits = this.#limit();
    if (limits) this.limits = limits;
    const plan = planSchedule(seed);
    if (plan) this.schedule = new ScheduleChecker(plan, this);
    if (this.faults.has('addressed')) this.sent = new SentTasks(this);
    if (this.faults.has('fair')) this.fair = new FairTasks(this);
    const isForgottenLate = this.faults.has(plan ? 'freeze' : 'clocks');
    this.memory = isForgottenLate ? 3 * SHORTEST_MEMORY : SHORTEST_MEMORY;
  }

  /** The types have limits, from before the first node. */
  #limit(): TypeLimits | undefined {
    const { chance, cluster, time, checker, lease } = this;
    if (!chance.happens(0.5)) return undefined;
    const permits = new Map(TYPES.map((type) => [type, chance.whole(1, 3)] as const));
    for (const [type, most] of permits) {
      const definition = { name: `task:${type}`, groupPattern: '.*', acquirerPattern: '.*', permits: most };
      cluster.putFirst({ ...definition, duration: Math.round(lease * chance.between(0.9, 1.2)) });
    }
    return new TypeLimits(permits, time, checker);
  }

  /** Options of all tasks but ticks. */
  get usual(): SubmitOptions {
    return this.tries;
  }

  /** Limits of all tasks but ticks, also of those that run the handlers of groups. */
  get tries() {
    return { ...TRIES, ...remembered(this.memory) };
  }

  get ticks(): SubmitOptions {
    return { ...TRIES, ...remembered(SHORTEST_MEMORY) };
  }

  get living(): readonly TaskNode[] {
    return this.nodes.filter(({ isLiving }) => isLiving);
  }

  get staying(): readonly TaskNode[] {
    return this.living.filter(({ isLeaving }) => !isLeaving);
  }

  /** ms: longer than a handler works. */
  get longestWork(): number {
    return 6 * this.lease;
  }

  start(): void {
    const { chance, time } = this;
    const clocks = {
      rate: 1 + chance.between(-5e-4, 5e-4),
      monotonic: chance.between(0, 1e9),
      wall: chance.between(-3000, 3000),
    };
    const node = new TaskNode(`n${this.#processes++}`, new SimProcess(time, clocks), this, chance.fork());
    this.nodes.push(node);
    node.start();
  }

  beginTrouble(): void {
    this.isTrouble = true;
    this.cluster.faultMix = mixOf(this.faults, this.chance);
    this.trace.note('', () => `trouble begins: ${[...this.faults].join()}`);
  }

  endTrouble(): void {
    this.isTrouble = false;
    this.trace.note('', () => 'trouble ends');
    this.stopped.calm();
    this.cluster.recover();
    this.cluster.comeBack();
    this.cluster.faultMix = FAULT_MIXES.none;
    for (const node of this.nodes) node.mend();
    for (const node of this.living) if (!this.#frozen.has(node)) node.process.resume();
  }

  /** A node has written that ticks are to be submitted. It may crash or freeze just then, before it learns that. */
  decided(name: string): void {
    const node = this.living.find((each) => each.name === name);
    if (!node || !this.isTrouble || this.#frozen.size > 0) return;
    const { chance } = this.schedule!.plan;
    if (this.faults.has('crash') && chance.happens(0.1)) node.process.crash();
    else if (this.faults.has('freeze') && chance.happens(0.2))
      this.#freeze(node, chance.between(LONG_FREEZE.least, LONG_FREEZE.most));
    else return;
    this.time.after(chance.between(10, 1000), () => this.start());
  }

  #freeze(node: TaskNode, duration: number): void {
    this.trace.note(node.name, () => 'freezes for long');
    this.#frozen.add(node);
    node.process.freeze();
    this.time.after(duration, () => {
      this.#frozen.delete(node);
      this.trace.note(node.name, () => 'thaws');
      node.process.resume();
    });
  }

  /** Whether a node is frozen for long. */
  get isFrozen(): boolean {
    return this.#frozen.size > 0;
  }

  began({ id, token }: TaskContext): void {
    this.trace.note('', () => `  ${id} begins, token ${token}`);
    // Trouble may delay the end of the others.
    const hasTrouble = this.isTrouble && TROUBLES.some((trouble) => this.faults.has(trouble));
    if (!hasTrouble)
      this.stopped.began(
        id,
        TROUBLES.some((trouble) => this.faults.has(trouble)),
      );
  }

  joined({ group, total, token }: GroupContext): void {
    this.trace.note('', () => `  the handler of group ${group} has run, ${total} members, token ${token}`);
  }
}

/** Each in a part of all seeds, without a number of the stream that all else uses. */
function besides(seed: number): TaskFaultKind[] {
  return [
    ...(seed % 2 === 0 ? (['by-hand'] as const) : []),
    ...(seed % 3 === 0 ? (['stops'] as const) : []),
    ...(seed % 4 < 2 ? (['unique'] as const) : []),
    ...(seed % 3 === 1 ? (['addressed'] as const) : []),
    ...(seed % 5 > 2 ? (['fair'] as const) : []),
    ...(seed % 7 === 5 ? (['clocks'] as const) : []),
  ];
}

function mixOf(faults: ReadonlySet<TaskFaultKind>, chance: Chance): FaultMix {
  const rate = (fault: TaskFaultKind, most: number) => (faults.has(fault) ? chance.between(0, most) : 0);
  return {
    ...FAULT_MIXES.none,
    lostReply: rate('calls', 0.15),
    lateWrite: rate('calls', 0.1),
    lostRequest: rate('calls', 0.1),
    lie: rate('calls', 0.1),
    slow: rate('slow', 0.2),
    badNews: rate('hints', 0.5),
  };
}

/** @param memory ms */
function remembered(memory: number): SubmitOptions {
  return { retention: memory, deadLetterRetention: memory };
}
