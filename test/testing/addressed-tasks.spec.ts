import { single } from 'nestjs-gatekeeper';
import { type TestNode, TestTasks } from 'nestjs-gatekeeper/testing';

describe('tasks that are addressed to another node of a test', () => {
  let tasks: TestTasks;
  let one: TestNode;
  let ran: string[];

  /** A node that handles mail. */
  async function started(acquirer: string): Promise<TestNode> {
    const node = tasks.node({ acquirer });
    node.tasks.handlers.handle('mail', () => void ran.push(acquirer));
    await node.start();
    node.tasks.start();
    return node;
  }

  beforeEach(async () => {
    tasks = new TestTasks();
    ran = [];
    one = await started('one');
    await started('other');
  });
  afterEach(() => tasks.close());

  it('are run by runAll(), although nodes look for them once a second only', async () => {
    await one.tasks.submit(single('mail', 'a'), undefined, { to: 'other' });
    await tasks.runAll();
    expect(ran).toEqual(['other']);
    expect(await tasks.find('mail:a')).toMatchObject({ state: 'completed' });
  });

  it('are run within about a second, however far the test moves time', async () => {
    const submitted = tasks.now.getTime();
    await one.tasks.submit(single('mail', 'a'), undefined, { to: 'other' });
    await tasks.advance('1h');
    expect(tasks.attemptsOf('mail:a')[0]!.at - submitted).toBeLessThan(2000);
  });

  it('stay if no node matches, and runAll() ends', async () => {
    await one.tasks.submit(single('mail', 'a'), undefined, { to: 'missing' });
    await tasks.runAll();
    expect(await tasks.find('mail:a')).toMatchObject({ state: 'waiting' });
  });
});
