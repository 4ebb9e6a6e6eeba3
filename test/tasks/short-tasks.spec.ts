import { single } from '../../lib/tasks/index.js';
import { decodeTask } from '../../lib/tasks/rules/task.codec.js';
import { openEnd } from '../support/nodes.js';
import { interceptWrites } from '../support/writes.js';
import { type TaskNode, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();

async function submitMany({ tasks }: TaskNode, count: number): Promise<void> {
  for (let number = 1; number <= count; number++) await tasks.submit(single('mail', `m${number}`));
}

/** Notes of ends hang until they are let go. */
function holdEnds({ driver }: TaskNode): { readonly held: () => number; readonly letGo: () => void } {
  const gate = openEnd();
  let held = 0;
  interceptWrites(driver.tasks, 'replace', async (go, { next }) => {
    if (next?.startsWith('f|')) {
      held++;
      await gate.work();
    }
    return go();
  });
  return { held: () => held, letGo: () => gate.end() };
}

describe('short tasks', () => {
  it('begin while the end of the former one is noted, but only so many', async () => {
    const cluster = newCluster();
    const begun: string[] = [];
    const node = worker(cluster, ({ id }) => void begun.push(id));
    const ends = holdEnds(node);
    await submitMany(cluster.node(), 20);
    await cluster.time.advance(100);
    expect([begun.length, ends.held()]).toEqual([5, 5]);
    expect(node.tasks.handlers.stateOf('mail')).toMatchObject({ concurrency: 1, running: 0 });
    ends.letGo();
    await cluster.time.advance(1000);
    expect(begun.length).toBe(20);
  });

  it('never run more at once than the handler wants', async () => {
    const cluster = newCluster();
    let [running, most] = [0, 0];
    const node = worker(cluster, async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => node.context.nodeClock.schedule(resolve, 1));
      running--;
    });
    await submitMany(cluster.node(), 50);
    await cluster.time.advance(1000);
    expect([running, most]).toEqual([0, 1]);
    expect((await node.tasks.find(single('mail', 'm50')))?.state).toBe('completed');
  });

  it('begin after a failure only when it is noted', async () => {
    const cluster = newCluster();
    const begun: string[] = [];
    const node = worker(cluster, ({ id }) => {
      begun.push(id);
      throw new Error('no');
    });
    const gate = openEnd();
    interceptWrites(node.driver.tasks, 'replace', async (go, { next }) => {
      if (decodeTask(next!).attempts > 0) await gate.work();
      return go();
    });
    await submitMany(cluster.node(), 3);
    await cluster.time.advance(100);
    expect(begun).toEqual(['mail:m1']);
    gate.end();
    await cluster.time.advance(100);
    expect(begun).toEqual(['mail:m1', 'mail:m2', 'mail:m3']);
  });

  it('are taken ahead, and go to other nodes when one of them takes long', async () => {
    const cluster = newCluster();
    const stuck = openEnd();
    const looks: number[] = [];
    const first = worker(cluster, ({ id }) => (id === 'mail:m40' ? stuck.work() : undefined));
    const { store } = first.context;
    const queue = store.queue.bind(store);
    store.queue = (name) => {
      const hints = queue(name);
      const drain = hints.drain.bind(hints);
      hints.drain = (most) => (looks.push(most), drain(most));
      return hints;
    };
    await submitMany(cluster.node(), 45);
    await cluster.time.advance(20);
    expect(Math.max(...looks)).toBeGreaterThan(5);
    // The next one was claimed: that takes longer than a short task.
    expect((await first.tasks.find('mail:m41'))?.state).toBe('running');
    await cluster.time.advance(50);
    expect(await first.tasks.find('mail:m41')).toMatchObject({ state: 'waiting', attempts: 0, crashes: 0 });
    const states = () => Promise.all([40, 41, 45].map(async (n) => (await first.tasks.find(`mail:m${n}`))?.state));
    expect(await states()).toEqual(['running', 'waiting', 'waiting']);
    worker(cluster, () => undefined);
    await cluster.time.advance(100);
    expect(await states()).toEqual(['running', 'completed', 'completed']);
    stuck.end();
  });
});
