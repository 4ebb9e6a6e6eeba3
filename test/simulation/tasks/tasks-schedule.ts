import { type SubmitOptions, type TaskName, grouped, single } from '../../../lib/tasks/index.js';
import type { SharedTasks } from './faulty-tasks.js';
import { Chance } from '../world/chance.js';
import { planByHand } from './by-hand.js';
import { type PlannedLink, planChains, planQueues } from './chain-plan.js';
import { TROUBLE, type TaskFaultKind, TasksScene } from './tasks-scene.js';
import { Uniques } from './uniques.js';

export interface TasksScheduleOptions {
  readonly isTraced?: boolean;
  /** Exactly these faults. Default: drawn by the seed. */
  readonly faults?: readonly TaskFaultKind[];
}

export interface TasksScheduleResult {
  readonly seed: number;
  readonly faults: readonly TaskFaultKind[];
  readonly violations: readonly string[];
  readonly claims: number;
  readonly ends: number;
  readonly joins: number;
  /** Sub-tasks that ended. */
  readonly subTasks: number;
  /** Ticks of schedules that were submitted. */
  readonly ticks: number;
  readonly happenings: number;
  /** ms from the end of the trouble until all tasks had ended. */
  readonly settledAfter: number;
  readonly trace: readonly string[];
}

/** Within so many retentions all is forgotten: members stay for their group, and their group for its parent. */
const FORGOTTEN = 3.4;

/** Records of schedules, which stay, are the texts from the first to before the second. */
const [SCHEDULES, BEHIND_SCHEDULES] = ['p|', 'p}'] as const;

/** Carries out one schedule: nodes submit tasks and work on them, there is trouble, then peace until all is done and forgotten. */
export async function simulateTasks(seed: number, options: TasksScheduleOptions = {}): Promise<TasksScheduleResult> {
  const scene = new TasksScene(seed, options.isTraced ?? false, options.faults);
  const { checker, time, trace, faults, shared } = scene;
  const rejected = (error: unknown) => checker.violated(`unhandled rejection: ${(error as Error)?.stack}`);
  process.on('unhandledRejection', rejected);
  const { stackTraceLimit } = Error;
  if (!options.isTraced) Error.stackTraceLimit = 0;
  let settledAfter = 0;
  try {
    const groups = submitAll(scene);
    scene.beginTrouble();
    plan(scene);
    jumpClocks(scene);
    jumpAhead(scene);
    planByHand(scene, seed, groups);
    scene.stops.plan(scene, groups);
    const uniques = new Uniques(scene);
    if (faults.has('unique')) uniques.plan(seed);
    await time.pass(TROUBLE);
    scene.endTrouble();
    await settleSchedule(scene);
    settledAfter = await settle(scene, groups);
    await time.pass(FORGOTTEN * scene.memory, () => left(shared, 1).length === 0);
    const kept = left(shared, 3);
    if (kept.length > 0) checker.violated(`T5 not forgotten: ${kept.join(', ')}`);
    uniques.check();
    scene.isAtWork = false;
    for (const node of scene.staying) node.leave();
    const within = 20 * scene.callTimeout + 2 * scene.longestWork + scene.grace;
    if (!(await time.pass(within, () => scene.living.length === 0))) checker.violated('T5 a node did not close');
    await time.pass(within);
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    process.off('unhandledRejection', rejected);
  }
  const { violations, claims, ends, joins, subTasks } = checker;
  return {
    seed,
    faults: [...faults],
    violations,
    claims,
    ends,
    joins: joins.size,
    subTasks,
    ticks: scene.schedule?.submitted ?? 0,
    happenings: time.count,
    settledAfter,
    trace: trace.lines,
  };
}

interface PlannedGroup {
  readonly name: string;
  readonly total: number;
}

/** Submits single tasks and groups over a while, each from a node that lives then; some twice. */
function submitAll(scene: TasksScene): PlannedGroup[] {
  const { chance, time } = scene;
  for (let count = chance.whole(2, 4); count > 0; count--) time.after(chance.between(0, 500), () => scene.start());
  const groups: PlannedGroup[] = [];
  const { trees } = scene;
  for (let count = chance.whole(0, 10); count > 0; count--)
    submitSoon(scene, () => single('mail', `m${chance.whole(1, 8)}`));
  for (let index = chance.whole(0, 3); index > 0; index--) {
    const group = { name: `g${index}`, total: chance.whole(1, 8) };
    groups.push(group);
    const isTotalKnown = chance.happens(0.5);
    // Without a known total the last one brings it; they are submitted in any order.
    for (let number = 1; number <= group.total; number++) {
      const hasTotal = isTotalKnown || number === group.total;
      const name = grouped('import', group.name, number, hasTotal ? group.total : undefined);
      for (let twice = chance.happens(0.2) ? 2 : 1; twice > 0; twice--) submitSoon(scene, () => name);
    }
  }
  for (const { name, data } of trees.tasks) submitSoon(scene, () => name, data);
  const ids = groups.map(({ name }) => `import[${name}]`);
  for (const link of [...planChains(scene.seed, ids), ...planQueues(scene.seed)]) {
    scene.links.set(link.name.id, link);
    submitSoon(scene, () => link.name, undefined, link);
  }
  for (const { name, options } of scene.fair?.plan() ?? [])
    submitSoon(scene, () => name, undefined, undefined, options);
  groups.push(...(scene.sent?.plan() ?? []));
  const ends = [...scene.links.values()].filter(({ name }) => name.member).length;
  if (ends > 0) groups.push({ name: 'ends', total: ends });
  if (trees.groups > 0) groups.push({ name: 'forest', total: trees.tasks.filter(({ name }) => name.member).length });
  return groups;
}

/** The application of a node that dies meanwhile submits again, from another node. */
function submitSoon(
  scene: TasksScene,
  name: () => TaskName,
  data?: unknown,
  link?: PlannedLink,
  more?: SubmitOptions,
): void {
  const { chance, time, checker } = scene;
  const wanted = name();
  scene.wanted.add(wanted.id);
  const attempt = (): void => {
    if (checker.isAccepted(wanted.id)) return;
    const nodes = scene.staying.filter(({ process }) => process.isRunning);
    if (nodes.length > 0 && mayFollow(scene, link)) {
      const node = chance.pick(nodes);
      node.watch('submit', node.submit(wanted, data ?? { of: wanted.id }, link, more));
    }
    time.after(2000, attempt);
  };
  time.after(chance.between(600, TROUBLE / 2), attempt);
}

/** A task can only wait for those that were submitted before, and for whole groups. */
function mayFollow({ wanted, checker }: TasksScene, link: PlannedLink | undefined): boolean {
  const isPartOf = (id: string, of: string) => id === of || (of.endsWith(']') && id.startsWith(`${of}#`));
  const awaited = [...wanted].filter((id) => link?.after.some((of) => isPartOf(id, of)));
  return awaited.every((id) => checker.isAccepted(id));
}

function plan(scene: TasksScene): void {
  const { chance, time, faults, trace, cluster, lease } = scene;
  const any = () => chance.pick(scene.living);
  const later = (action: () => void) => time.after(chance.between(0, 2.5) * lease, () => scene.isTrouble && action());
  const actions: Partial<Record<TaskFaultKind, () => void>> = {
    crash: () => any().process.crash(),
    freeze: () => {
      const { process } = any();
      process.freeze();
      later(() => process.resume());
    },
    cut: () => {
      const node = any();
      node.cut();
      later(() => node.mend());
    },
    outage: () => {
      cluster.goDown();
      later(() => cluster.comeBack());
    },
    leave: () => scene.staying.length > 1 && chance.pick(scene.staying).leave(),
  };
  const chosen = Object.entries(actions).filter(([fault]) => faults.has(fault as TaskFaultKind));
  if (chosen.length === 0) return;
  for (let at = chance.between(600, 2000); at < TROUBLE; at += chance.between(200, 4000)) {
    const [fault, act] = chance.pick(chosen);
    time.after(at, () => {
      if (scene.living.length === 0) return;
      trace.note('', () => `trouble: ${fault}`);
      act();
      if (scene.staying.length < 2) time.after(chance.between(10, 1000), () => scene.isTrouble && scene.start());
    });
  }
}

/** T15: the clocks of the members may jump ahead together. */
function jumpAhead({ seed, faults, schedule, time, lease, cluster }: TasksScene): void {
  if (!faults.has('clocks') || schedule) return;
  const chance = new Chance(~seed);
  const by = chance.whole(2 * lease, 4 * lease);
  time.after(chance.between(1500, TROUBLE / 2), () => cluster.jumpClock(by, false));
}

/** C5: the clock of a node may be set wrong by any time. */
function jumpClocks({ schedule, time, nodes }: TasksScene): void {
  if (!schedule?.plan.hasJumps) return;
  const { chance } = schedule.plan;
  for (let at = chance.between(600, 5000); at < TROUBLE; at += chance.between(1000, 8000)) {
    time.after(at, () => nodes.length > 0 && chance.pick(nodes).process.jumpWall(chance.between(-200_000, 200_000)));
  }
}

/** C3: ticks go on after the trouble, and after a downtime of all nodes. */
async function settleSchedule(scene: TasksScene): Promise<void> {
  const { schedule, time } = scene;
  if (!schedule) return;
  if (!scene.staying.some(({ process }) => process.isRunning)) scene.start();
  await schedule.goesOn();
  await time.pass(FORGOTTEN * scene.memory, () => !scene.isFrozen);
  await schedule.goesOn();
  schedule.expectNoneLost();
  if (schedule.plan.downtime > 0) {
    for (const { process } of scene.living) process.crash();
    await time.pass(schedule.plan.downtime);
    scene.start();
    await schedule.goesOn();
  }
}

/** T1, T3: all tasks end, and all groups are closed. No node submits ticks any more. */
async function settle(scene: TasksScene, groups: readonly PlannedGroup[]): Promise<number> {
  const { time, checker, lease, callTimeout, settings } = scene;
  if (scene.staying.length === 0) scene.start();
  scene.sent?.settle();
  for (const node of scene.living) node.watch('stop of the schedule', node.tasks.schedules.close());
  const ended = time.now;
  const submitted = await time.pass(60_000, () => [...scene.wanted].every((id) => checker.isAccepted(id)));
  if (!submitted) checker.violated('the harness could not submit all');
  const within = 10 * (lease + settings.clockTolerance) + 6 * scene.longestWork + 20 * callTimeout + 60_000;
  const joined = () => checker.joins.size >= groups.length;
  if (!(await time.pass(within, () => joined() && checker.isDone))) {
    checker.violated(
      `T1 not done within ${within} ms: ${checker.open.join()}; ${checker.joins.size} of ${groups.length} groups`,
    );
  }
  for (const [group, times] of checker.joins)
    if (times !== 1) checker.violated(`T3 the handler of ${group} ended ${times} times`);
  for (const [group, times] of checker.subJoins)
    if (times !== 1) checker.violated(`T3 the handler of ${group} ended ${times} times`);
  if (checker.joins.size > groups.length)
    checker.violated(`T3 ${checker.joins.size} groups ended, ${groups.length} were submitted`);
  const settledAfter = time.now - ended;
  await scene.fair?.settle();
  return settledAfter;
}

/** At most `limit` texts of each kind that are still there, without schedules. Cheap: asked after each happening. */
function left({ tasks, groups }: SharedTasks, limit: number): string[] {
  const rows = [...tasks.range('', SCHEDULES, limit), ...tasks.range(BEHIND_SCHEDULES, '\uffff', limit)];
  const texts = rows.map(({ text }) => text);
  let kept = 0;
  for (const text of groups.texts.values()) {
    if (kept++ === limit) break;
    texts.push(text);
  }
  return texts;
}
