import { LEADER_PREFIX } from '../../../lib/core/decision/index.js';
import { ALLOCATION_SCOPE } from '../../../lib/allocation/index.js';
import { LIST_FACTOR } from '../../../lib/core/store/store.js';
import { assigned, sharesOf } from '../../allocation/divisions.js';
import { type Fault, leavesCallsOpen, needsGrace } from './faults.js';
import { LONGEST_DELAY } from './owner-node.js';
import { Scene, TROUBLE } from './scene.js';
import { Trouble } from './trouble.js';

/** ms between two looks of the checker, besides those at each change. */
const LOOK = 100;
/** ms after which a first division is late. */
const BEGIN = 15_000;
/** ms after lease and `clockTolerance` within which the resources have owners again after a crash. */
export const SOON = 2000;

export interface AllocationScheduleOptions {
  readonly isTraced?: boolean;
  /** Exactly these faults. Default: drawn by the seed. */
  readonly faults?: readonly Fault[];
}

export interface AllocationScheduleResult extends Settled {
  readonly seed: number;
  readonly faults: readonly Fault[];
  readonly violations: readonly string[];
  /** Changes of owners. */
  readonly changes: number;
  readonly excusedTokens: number;
  readonly happenings: number;
  readonly trace: readonly string[];
}

/** Carries out one schedule: nodes divide resources, then there is trouble, then peace. */
export async function simulateAllocation(
  seed: number,
  options: AllocationScheduleOptions = {},
): Promise<AllocationScheduleResult> {
  const scene = new Scene(seed, options);
  const { checker, time, trace, faults } = scene;
  const rejected = (error: unknown) => checker.violated(`unhandled rejection: ${(error as Error).stack}`);
  process.on('unhandledRejection', rejected);
  const { stackTraceLimit } = Error;
  if (!options.isTraced) Error.stackTraceLimit = 0;
  let settled: Settled = {};
  try {
    const trouble = new Trouble(scene);
    await begin(scene, trouble);
    trouble.plan(TROUBLE);
    await pass(scene, TROUBLE);
    settled = await settle(scene, trouble);
    await closeAll(scene);
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    process.off('unhandledRejection', rejected);
  }
  const { violations, changes, excusedTokens } = checker;
  return {
    seed,
    faults: [...faults],
    violations,
    changes,
    excusedTokens,
    ...settled,
    happenings: time.count,
    trace: trace.lines,
  };
}

/** Some schedules have trouble from the beginning. */
async function begin(scene: Scene, trouble: Trouble): Promise<void> {
  const { chance, time, lease, checker } = scene;
  const isCalm = chance.happens(0.7);
  if (!isCalm) scene.beginTrouble();
  for (let count = chance.whole(3, 5); count > 0; count--) {
    time.after(count === 1 ? 0 : chance.between(0, 2000), () => trouble.startNew());
  }
  if (!isCalm) return void (await pass(scene, 1));
  const isSettled = await pass(scene, 2 * lease + BEGIN, () => unsettled(scene) === '');
  if (!isSettled) checker.violated(`A3 not divided at first: ${unsettled(scene)}`);
  scene.beginTrouble();
}

interface Settled {
  /** ms from the end of the trouble until all was settled, less lease and tolerance; undefined: the shards were new. */
  readonly settledAfter?: number;
  /** Why that was more than {@link SOON}; absent if it was not. */
  readonly lateBy?: Cause;
}

async function settle(scene: Scene, trouble: Trouble): Promise<Settled> {
  const { time, lease, tolerance, checker, cluster } = scene;
  scene.endTrouble();
  const ended = time.now;
  // A process that was frozen gets the signal to leave only now, and may have been the last one with the group.
  await pass(scene, 1);
  if (scene.members.length === 0) trouble.startNew();
  if (cluster.waitsForShard(LEADER_PREFIX + ALLOCATION_SCOPE)) return {};
  const causes = causesOf(scene);
  const within = causes.reduce((sum, [, ms]) => sum + ms, lease + tolerance + SOON);
  const isSettled = await pass(scene, within, () => unsettled(scene) === '');
  if (!isSettled) checker.violated(`A3 not settled within ${within} ms: ${unsettled(scene)}`);
  const settledAfter = time.now - ended - lease - tolerance;
  const lateBy = causeOf(settledAfter - SOON, causes);
  return { settledAfter, ...(lateBy && { lateBy }) };
}

/** Why resources may have owners later than lease, tolerance and {@link SOON} after the trouble. */
export const CAUSES = ['settle-delay', 'refresh', 'calls', 'long-work', 'grace', 'birth', 'set-back'] as const;
export type Cause = (typeof CAUSES)[number];

/** ms that each cause of this schedule may add, the usual ones first. Also in docs/guarantees.md. */
function causesOf({ lease, tolerance, handoverTimeout, settleDelay, settings, faults, cluster }: Scene) {
  const { callTimeout } = settings;
  const causes: Record<Cause, number> = {
    'settle-delay': settleDelay,
    // The application's set may have changed in the last moment, and is looked at in this interval.
    refresh: faults.has('resources') || faults.has('oddSources') ? settings.allocation.groups[0]!.refreshInterval : 0,
    // A call of the time of the trouble fails only now, and the next one depends on it.
    calls: leavesCallsOpen(faults) ? 2 * callTimeout : 0,
    'long-work': faults.has('longWork') ? handoverTimeout : 0,
    // The grace of the leadership's record comes first, then that of the owner map.
    grace: needsGrace(faults) || cluster.hasLostCopy ? lease + tolerance : 0,
    birth: cluster.isBorn ? 0 : 2 * (LONGEST_DELAY + (1 + LIST_FACTOR) * callTimeout),
    // The leadership's permit, and the grace of its record, last longer by the time by which clocks were set back.
    'set-back': cluster.setBack,
  };
  return Object.entries(causes) as [Cause, number][];
}

/** The first cause that explains so many ms beyond the usual time. */
function causeOf(late: number, causes: readonly [Cause, number][]): Cause | undefined {
  let explained = 0;
  return late <= 0 ? undefined : causes.find(([, ms]) => (explained += ms) >= late)?.[0];
}

/** Lets time pass, and looks now and then. @returns whether it was enough */
async function pass(scene: Scene, duration: number, isEnough = () => false): Promise<boolean> {
  const { time, checker } = scene;
  const until = time.now + duration;
  let cleared = -Infinity;
  while (time.now < until) {
    await time.pass(Math.min(LOOK, until - time.now));
    checker.look();
    if (isEnough()) return true;
    if (scene.isTrouble || time.now - cleared < 1000) continue;
    cleared = time.now;
    clearOrders(scene);
  }
  return isEnough();
}

/** An operator takes all orders back. A late write may bring one again. */
function clearOrders(scene: Scene): void {
  if (!scene.has('orders', true)) return;
  const [node] = scene.members;
  if (!node) return;
  for (const name of new Set(scene.nodes.map((each) => each.name))) node.watch('undrain', node.group.undrain(name));
  for (const id of scene.all) node.watch('unpin', node.group.unpin(id));
}

/** The first thing that is not as it should be: each resource has one owner, and the shares are those of the weights. */
function unsettled({ living, all, resources }: Scene): string {
  const owners = new Map<string, string>();
  for (const id of all) {
    const having = living.filter(({ group }) => group.owns(id));
    const wanted = resources.includes(id) ? 1 : 0;
    if (having.length !== wanted) return `${id} has ${having.length} owners instead of ${wanted}`;
    for (const { instance } of having) owners.set(id, instance);
  }
  const participants = living
    .filter(({ isMember }) => isMember)
    .map(({ instance: id, weight, isLeaving }) => ({ id, weight: isLeaving ? 0 : weight }));
  const { revoke } = assigned({ resources, participants, current: owners });
  return revoke.length === 0 ? '' : `uneven: ${[...sharesOf(owners, participants).values()].join(', ')}`;
}

/** Nothing is left open: no call, no timer. */
async function closeAll(scene: Scene): Promise<void> {
  const { time, checker } = scene;
  for (const node of scene.staying) node.leave();
  const within = scene.longestWork + 20 * scene.settings.callTimeout;
  if (await time.pass(within, () => scene.living.length === 0)) return;
  for (const { instance } of scene.living) checker.violated(`${instance} did not close within ${within} ms`);
}
