import { setImmediate as turn } from 'node:timers/promises';
import { single } from 'nestjs-gatekeeper';
import { type TaskNode, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();

/** Holds the hints of the node back, each call until it is let go on. */
function holdHints({ driver }: TaskNode) {
  const storage = driver;
  const queueOf = storage.queue.bind(storage);
  const held: (() => void)[] = [];
  const queue: typeof queueOf = (name) => {
    const hints = queueOf(name);
    const offer = hints.offer.bind(hints);
    return Object.assign(hints, {
      offer: (batch: readonly string[]) => new Promise<void>((done) => held.push(done)).then(() => offer(batch)),
    });
  };
  Object.assign(storage, { queue });
  return { held, hints: () => queueOf('mail.normal').size(), letGo: () => held.shift()!() };
}

/** Submits a task, and tells when that has ended. */
function submission(node: TaskNode, name: string) {
  const state = { hasEnded: false };
  void node.tasks.submit(single('mail', name)).then(() => (state.hasEnded = true));
  return state;
}

it('a submission waits for its hint, but not for one that has to wait for another', async () => {
  const node = newCluster().node();
  const { held, letGo, hints } = holdHints(node);
  const [first, second] = [submission(node, 'first'), submission(node, 'second')];
  await turn();
  const third = submission(node, 'third');
  await turn();
  expect([first, second, third].map(({ hasEnded }) => hasEnded)).toEqual([false, false, true]);
  letGo();
  await turn();
  expect([first, second].map(({ hasEnded }) => hasEnded)).toEqual([true, true]);
  // The others go together.
  expect(held).toHaveLength(1);
  letGo();
  await turn();
  expect(await hints()).toBe(3);
});

it('submissions go no faster than the store: with 256 hints unsent they wait', async () => {
  const node = newCluster().node();
  const { letGo } = holdHints(node);
  submission(node, 'first');
  await turn();
  const others = Array.from({ length: 300 }, (_, number) => submission(node, `other-${number}`));
  await turn();
  const ended = () => others.filter(({ hasEnded }) => hasEnded).length;
  // The first one is unsent, too.
  expect(ended()).toBe(255);
  letGo();
  await turn();
  letGo();
  await turn();
  expect(ended()).toBe(300);
});

it('close() sends the hints that are left', async () => {
  const node = newCluster().node();
  const { letGo, hints } = holdHints(node);
  submission(node, 'first');
  await turn();
  await node.tasks.submit(single('mail', 'second'));
  let isClosed = false;
  const closing = node.tasks.close().then(() => (isClosed = true));
  await turn();
  letGo();
  await turn();
  expect(isClosed).toBe(false);
  letGo();
  await closing;
  expect(await hints()).toBe(2);
});

it('close() waits no longer than a call may take', async () => {
  const cluster = newCluster();
  const node = cluster.node();
  holdHints(node);
  submission(node, 'first');
  await turn();
  await node.tasks.submit(single('mail', 'second'));
  const closing = node.tasks.close();
  await cluster.time.advance(2 * node.context.timing.callTimeout);
  await expect(closing).resolves.toBeUndefined();
});
