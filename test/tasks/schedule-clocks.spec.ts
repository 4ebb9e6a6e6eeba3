import { FIRST, MINUTE, MINUTELY, SOON, ScheduledJob } from './schedule-nodes.js';
import { type TaskCluster, type TaskNode, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();
const AHEAD = 120 * MINUTE;
/** ms in which each node looks at its clock again. */
const LOOKED = 10 * MINUTE + SOON;

/** Nodes that have run one tick by a clock of the store that was ahead, and that was set back after it. */
async function afterJump(): Promise<{ cluster: TaskCluster; job: ScheduledJob; nodes: TaskNode[] }> {
  const cluster = newCluster();
  const job = new ScheduledJob(cluster, MINUTELY);
  const nodes = [job.node(), job.node()];
  cluster.jumpClock(AHEAD);
  await cluster.time.advance(FIRST - cluster.time.cluster() + SOON);
  expect(job.minutes.at(-1)).toBe(120);
  cluster.jumpClock(-AHEAD);
  job.runs.splice(0);
  return { cluster, job, nodes };
}

describe('a schedule after the clock of the store was ahead, and was set back', () => {
  const UNTIL = FIRST + AHEAD;

  it('runs no tick up to the last one that it knows, and each node says so once', async () => {
    const { cluster, job, nodes } = await afterJump();
    await cluster.time.advance(LOOKED);
    expect(job.minutes).toEqual([]);
    for (const node of nodes)
      expect(node.of('schedule-silent')).toEqual([
        {
          type: 'schedule-silent',
          schedule: 'job',
          until: UNTIL,
          sentence: expect.stringMatching(
            /^schedule "job" runs no tick up to 2023-11-15T00:14:00Z: the store has noted that time as past, and it is 2023-11-14T22:\d\d/,
          ),
        },
      ]);
    await cluster.time.advance(2 * LOOKED);
    expect(nodes.flatMap((node) => node.of('schedule-silent'))).toHaveLength(2);
  });

  it('is reported by a node that starts then', async () => {
    const { cluster, job } = await afterJump();
    await cluster.time.advance(MINUTE);
    const late = job.node();
    await cluster.time.advance(SOON);
    expect(late.of('schedule-silent')).toMatchObject([{ schedule: 'job', until: UNTIL }]);
  });

  it('is listed with the time after which it goes on', async () => {
    const { cluster, nodes } = await afterJump();
    await cluster.time.advance(MINUTE);
    const silent = { silentUntil: UNTIL, last: UNTIL, next: UNTIL + MINUTE };
    for (const node of [...nodes, cluster.node()])
      expect(await node.tasks.schedules.list()).toMatchObject([{ name: 'job', ...silent }]);
  });

  it('goes on by itself after that time, and runs no tick twice', async () => {
    const { cluster, job, nodes } = await afterJump();
    await cluster.time.advance(LOOKED);
    cluster.time.freeze(UNTIL - cluster.time.cluster() - MINUTE);
    await cluster.time.advance(3 * MINUTE + SOON);
    expect(job.minutes.slice(0, 2)).toEqual([121, 122]);
    const [listed] = await nodes[0]!.tasks.schedules.list();
    expect(listed).not.toHaveProperty('silentUntil');
  });
});

it('a clock of the store that goes back by less than a minute is not reported', async () => {
  const cluster = newCluster();
  const job = new ScheduledJob(cluster, MINUTELY);
  const node = job.node();
  await cluster.time.advance(FIRST - cluster.time.cluster() + SOON);
  cluster.jumpClock(-50_000);
  await cluster.time.advance(3 * MINUTE);
  expect(node.of('schedule-silent')).toEqual([]);
  expect(job.minutes).toEqual([0, 1, 2]);
});
