import { memory } from 'nestjs-gatekeeper';
import { eventually } from '../../../test/contract/eventually.js';
import { WatchedNode } from './watched-node.js';

const SCHEDULES = 300;
const OPTIONS = { timeZone: 'Europe/Berlin' };

const nodes: WatchedNode[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close();
});

it('many schedules of one second, and their list, do not block the event loop for 20 ms', async () => {
  const store = memory();
  const [node, other] = [await WatchedNode.start({ store }), await WatchedNode.start({ store })];
  nodes.push(node, other);
  let runs = 0;
  for (let number = 1; number <= SCHEDULES; number++)
    node.tasks.schedules.add(`sync-${number}`, '*/5 * * * * *', () => void runs++, OPTIONS);
  node.tasks.start();
  await eventually('all have run, and the code is warm', () => runs >= 3 * SCHEDULES, 60_000);
  await node.step('run', async () => {
    const before = runs;
    await eventually('all have run again', () => runs >= before + SCHEDULES, 60_000);
  });
  for (const [name, { tasks }] of [
    ['list own ones', node],
    ['list those of others', other],
  ] as const) {
    await node.step(name, async () => {
      expect(await tasks.schedules.list()).toHaveLength(SCHEDULES);
      await new Promise((turn) => setImmediate(turn));
    });
  }
  console.log(node.summary);
  expect(node.tooLong).toEqual([]);
});
