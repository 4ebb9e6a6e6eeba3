import { InvalidOptionsError, SubmitManyError, type DistributeOptions } from 'nestjs-gatekeeper';
import { grouped, single } from '../../lib/tasks/index.js';
import { LEASE, SWEPT, type TaskCluster, type TaskNode, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();
/** ms: longer than the pause between two looks for addressed tasks. */
const LOOKED = 2000;
/** ms in which the sweep surely has seen that a process is gone, and another node has looked. */
const MOVED = SWEPT + LOOKED;

/** A node that handles `mail`. `ran` has the names of nodes by the ids of tasks that they began. */
function worker(cluster: TaskCluster, ran: Map<string, string[]>, work: () => unknown = () => 1): TaskNode {
  const node = cluster.node();
  const { acquirer } = node.context.node;
  const handler = ({ id }: { id: string }) => {
    ran.set(id, [...(ran.get(id) ?? []), acquirer]);
    return work();
  };
  node.tasks.handlers.handle('mail', handler, { lease: LEASE, concurrency: 4 });
  node.tasks.handlers.start();
  return node;
}

const instanceOf = ({ context }: TaskNode) => context.node.instance;

function mails(count: number) {
  return Array.from({ length: count }, (_, i) => ({ name: grouped('mail', 'all', i + 1, count), data: i }));
}

/** How many tasks each node began. */
function counts(ran: Map<string, string[]>): Record<string, number> {
  const all = [...ran.values()].flat();
  return Object.fromEntries(
    [...new Set(all)].toSorted().map((name) => [name, all.filter((each) => each === name).length]),
  );
}

describe('distribute()', () => {
  it('hands the tasks to the nodes in turn', async () => {
    const cluster = newCluster();
    const ran = new Map<string, string[]>();
    const nodes = [1, 2, 3].map(() => worker(cluster, ran));
    const participants = nodes.slice(0, 2).map((node) => node.context.node);
    const answers = await nodes[2]!.tasks.distribute(mails(21), { over: participants });
    expect(answers.map(({ outcome }) => outcome)).toEqual(Array(21).fill('created'));
    await cluster.time.advance(LOOKED * 2);
    expect(counts(ran)).toEqual({ app1: 11, app2: 10 });
  });

  it('takes instances, each once, and tasks from a generator', async () => {
    const cluster = newCluster();
    const ran = new Map<string, string[]>();
    const [one, two] = [worker(cluster, ran), worker(cluster, ran)];
    const over = [instanceOf(one), instanceOf(two), instanceOf(one)];
    await one.tasks.distribute(mails(10)[Symbol.iterator](), { over });
    await cluster.time.advance(LOOKED * 2);
    expect(counts(ran)).toEqual({ app1: 5, app2: 5 });
  });

  it('moves the tasks of a process that is gone to the others, evenly, and each runs once', async () => {
    const cluster = newCluster();
    const ran = new Map<string, string[]>();
    const nodes = [1, 2, 3].map(() => worker(cluster, ran));
    const over = [...nodes.map(instanceOf), 'gone'];
    await nodes[0]!.tasks.distribute(mails(40), { over });
    await cluster.time.advance(LOOKED * 2);
    expect(counts(ran)).toEqual({ app1: 10, app2: 10, app3: 10 });
    await cluster.time.advance(MOVED);
    expect(ran.size).toBe(40);
    const { app1, app2, app3 } = counts(ran);
    expect([app1, app2, app3].toSorted()).toEqual([13, 13, 14]);
  });

  it('moves what a node had begun when it died', async () => {
    const cluster = newCluster();
    const ran = new Map<string, string[]>();
    const living = worker(cluster, ran);
    const dying = worker(cluster, ran, () => new Promise(() => undefined));
    await living.tasks.distribute(mails(4), { over: [dying.context.node] });
    await cluster.time.advance(LOOKED);
    expect(counts(ran)).toEqual({ app2: 4 });
    cluster.die(dying);
    await cluster.time.advance(LEASE + MOVED);
    expect(counts(ran)).toEqual({ app1: 4, app2: 4 });
    expect(await living.tasks.find(mails(4)[0]!.name)).toMatchObject({ state: 'completed', crashes: 1 });
  });

  it('leaves the tasks of a living node there, and those that no living node handles', async () => {
    const cluster = newCluster();
    const ran = new Map<string, string[]>();
    const busy = worker(cluster, ran, () => new Promise(() => undefined));
    worker(cluster, ran);
    await busy.tasks.distribute(mails(9), { over: [busy.context.node] });
    await busy.tasks.distribute([{ name: single('unheard', 'a') }], { over: ['gone'] });
    await cluster.time.advance(MOVED);
    expect(counts(ran)).toEqual({ app1: 4 });
    expect(await busy.tasks.find(single('unheard', 'a'))).toMatchObject({ state: 'waiting', to: { instance: 'gone' } });
  });

  it('moves a task although many before it stay, because no living node handles their type', async () => {
    const cluster = newCluster();
    const ran = new Map<string, string[]>();
    const living = worker(cluster, ran);
    const unheard = Array.from({ length: 300 }, (_, number) => ({ name: single('a-type', `${number}`) }));
    await living.tasks.distribute([...unheard, { name: single('mail', 'last') }], { over: ['gone'] });
    await cluster.time.advance(MOVED);
    expect([...ran]).toEqual([['mail:last', ['app1']]]);
  });

  it('moves tasks although many before them have a text that this version can not read', async () => {
    const cluster = newCluster();
    const ran = new Map<string, string[]>();
    const living = worker(cluster, ran);
    const list = Array.from({ length: 251 }, (_, number) => ({ name: single('mail', `${number}`) }));
    await living.tasks.distribute(list, { over: ['gone'] });
    for (const { name } of list.slice(0, 250)) {
      const text = (await living.store.texts.read(name.id))!;
      await living.store.texts.write(name.id, text, text.replace('{"v":1', '{"v":2'));
    }
    await cluster.time.advance(MOVED);
    expect([...ran]).toEqual([['mail:250', ['app1']]]);
  });

  it('is idempotent: a task that is known keeps its address', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await node.tasks.distribute(mails(2), { over: ['a'] });
    const again = await node.tasks.distribute(mails(2), { over: ['b'] });
    expect(again.map(({ outcome }) => outcome)).toEqual(['known', 'known']);
    expect(await node.tasks.find(mails(2)[0]!.name)).toMatchObject({ to: { instance: 'a', orAnother: true } });
  });

  it.each([
    { options: undefined, fault: 'over: undefined ' },
    { options: { over: [] }, fault: 'over: is empty' },
    { options: { over: ['a', 7] }, fault: 'over[1]: 7 is neither' },
    { options: { over: [{}] }, fault: 'over[0]: an empty object is neither' },
  ])('refuses $options', async ({ options, fault }) => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    const refused = tasks.distribute(mails(1), options as DistributeOptions);
    await expect(refused).rejects.toThrow(InvalidOptionsError);
    await expect(refused).rejects.toThrow(fault);
  });

  it('refuses a task with an address of its own', async () => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    const list = [{ name: single('mail', 'a'), options: { to: 'app1' } }];
    const refused = tasks.distribute(list, { over: ['a'] });
    await expect(refused).rejects.toThrow(SubmitManyError);
    await expect(refused).rejects.toThrow('to: distribute() gives the address');
  });
});

describe('the target orAnother', () => {
  it('is only for an instance', async () => {
    const cluster = newCluster();
    const submitted = cluster.node().tasks.submit(single('mail', 'a'), 1, { to: { group: 'eu', orAnother: true } });
    await expect(submitted).rejects.toThrow('to.orAnother: there is no "instance"');
  });

  it('is refused without a heartbeat', async () => {
    const cluster = newCluster();
    const submitted = cluster
      .node({ heartbeat: false })
      .tasks.submit(single('mail', 'a'), 1, { to: { instance: 'x', orAnother: true } });
    await expect(submitted).rejects.toThrow('"heartbeat" is 0');
  });

  it('moves only to nodes that match the patterns', async () => {
    const cluster = newCluster();
    const ran = new Map<string, string[]>();
    const nodes = [1, 2, 3].map(() => worker(cluster, ran));
    const to = { instance: 'gone', acquirer: 'app[13]', orAnother: true };
    await nodes[1]!.tasks.submitMany(mails(10).map((mail) => ({ ...mail, options: { to } })));
    await cluster.time.advance(MOVED);
    expect(counts(ran)).toEqual({ app1: 5, app3: 5 });
  });

  it('is explained', async () => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    await tasks.submit(single('mail', 'a'), 1, { to: { instance: 'x', orAnother: true } });
    const { sentence } = await tasks.explain(single('mail', 'a'));
    expect(sentence).toContain('instance "x", or another if it is gone, and no living node matches');
  });
});
