import { memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { systemClock } from '../../../lib/core/async/node-clock.js';
import { systemRandomness } from '../../../lib/core/async/random-ids.js';
import { type Context, createContext } from '../../../lib/core/context/context.js';
import { familyOf, readChild } from '../../../lib/tasks/rules/sub-name.js';
import { memberId } from '../../../lib/tasks/rules/task-id.js';
import { USUAL_LIMITS } from '../../../lib/tasks/rules/task.js';
import { TaskStore } from '../../../lib/tasks/records/task-store.js';
import { LongestBlock, threadCpu } from '../../../test/console/longest-block.js';

/** ms; what nothing may take up of the event loop in one go. */
const LIMIT = 20;

describe('many sub-tasks', () => {
  let context: Context;
  let store: TaskStore;
  let block: LongestBlock;

  beforeEach(() => {
    const settings = parseGatekeeperOptions({ store: memory(), acquirer: 'app' });
    const random = systemRandomness();
    context = createContext(settings, {
      node: { group: 'default', acquirer: 'app', instance: random.instance() },
      nodeClock: systemClock,
      random,
      isClosing: () => false,
      grantFault: () => undefined,
    });
    context.clusterClock.start();
    store = new TaskStore(context);
    block = new LongestBlock();
  });
  afterEach(async () => {
    block.close();
    context.clusterClock.stop();
    context.timers.close();
    await context.store.close();
  });

  /** A task that was claimed, and is about to have sub-tasks. */
  async function parent() {
    await store.submit({ id: 'book:a', type: 'book', priority: 'normal', limits: USUAL_LIMITS }, 'unfinished');
    const claim = (await store.claim((await store.texts.read('book:a'))!, 60_000))!;
    await store.split(claim);
    return claim;
  }

  it('of one group that are all in the store do not block the event loop at the end of their parent', async () => {
    const claim = await parent();
    const incarnation = claim.task.split!;
    await store.parents.listOf(familyOf('book:a', incarnation)).numberOf('page[all]');
    const group = readChild('page[all]', 'book:a').group!;
    await store.groups.begin('page', { group, incarnation }, { number: 100_000 });
    for (let number = 1; number <= 100_000; number++) claim.confirmed.add(memberId('page', group, number));
    block.take();
    await store.end(claim, 'completed');
    expect(block.take()).toBeLessThan(LIMIT);
    expect(claim.task.state).toBe('awaiting');
  });

  it('that are submitted all at once cost no look at all of them for each page of the list', async () => {
    const claim = await parent();
    const list = store.parents.listOf(familyOf('book:a', claim.task.split!));
    const begun = threadCpu();
    const numbers = await Promise.all(Array.from({ length: 50_000 }, (_, index) => list.numberOf(`page:${index}`)));
    expect(numbers.at(-1)).toBe(50_000);
    // It takes half a second; with such looks it took four.
    expect(threadCpu() - begun).toBeLessThan(2000);
  });

  it('that are all in the store do not block the event loop at the end of their parent', async () => {
    const claim = await parent();
    const list = store.parents.listOf(familyOf('book:a', claim.task.split!));
    const entries = Array.from({ length: 20_000 }, (_, index) => `page:${index}`);
    for (let at = 0; at < entries.length; at += 500)
      await Promise.all(entries.slice(at, at + 500).map((entry) => list.numberOf(entry)));
    for (const entry of entries) claim.confirmed.add(readChild(entry, 'book:a').id!);
    block.take();
    await store.end(claim, 'completed');
    expect(block.take()).toBeLessThan(LIMIT);
    expect(claim.task.state).toBe('awaiting');
  });
});
