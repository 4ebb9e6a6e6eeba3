import { InvalidTaskError, StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { grouped, single } from '../../lib/tasks/index.js';
import { type WriteKind, interceptWrites } from '../support/writes.js';
import { type TaskNode, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const MAIL = single('mail', 'a');
const LATER = single('mail', 'b');

/** The store writes the next text of a task, and then can't be read. @returns a function that ends that */
function awayAfter({ driver }: TaskNode, kind: WriteKind): () => void {
  const { tasks, groups } = driver;
  let isAway = false;
  const end = interceptWrites(tasks, kind, async (go) => {
    const answer = await go();
    isAway = true;
    return answer;
  });
  for (const texts of [tasks, groups]) {
    const read = texts.read.bind(texts);
    texts.read = (key) => (isAway ? Promise.reject(new StoreUnavailableError('away')) : read(key));
  }
  return () => {
    isAway = false;
    end();
  };
}

describe('a call that has made a task, and whose next step fails', () => {
  it('may have submitted the task, which waits for another one', async () => {
    const node = newCluster().node();
    await node.tasks.submit(MAIL);
    const end = awayAfter(node, 'create');
    await expect(node.tasks.submit(LATER, 1, { after: [MAIL] })).rejects.toBeInstanceOf(UnknownOutcomeError);
    end();
    expect(await node.tasks.find(LATER)).toMatchObject({ state: 'blocked', data: 1 });
    expect(await node.tasks.submit(LATER, 2, { after: [MAIL] })).toMatchObject({ outcome: 'known' });
  });

  it('may have submitted the task of a queue, which has no place there yet', async () => {
    const node = newCluster().node();
    const end = awayAfter(node, 'create');
    await expect(node.tasks.submitSerial('q', MAIL, 1)).rejects.toBeInstanceOf(UnknownOutcomeError);
    end();
    expect(await node.tasks.find(MAIL)).toMatchObject({ state: 'blocked', data: 1 });
    expect(await node.tasks.submitSerial('q', MAIL, 2)).toMatchObject({ outcome: 'known' });
    expect(await node.tasks.find(MAIL)).toMatchObject({ state: 'waiting' });
  });

  it('may have submitted a member of a group that is stopped', async () => {
    const node = newCluster().node();
    await node.tasks.submit(grouped('mail', 'june', 1));
    await node.tasks.cancelGroup('mail', 'june');
    const end = awayAfter(node, 'create');
    await expect(node.tasks.submit(grouped('mail', 'june', 2))).rejects.toBeInstanceOf(UnknownOutcomeError);
    end();
    expect(await node.tasks.find('mail[june]#2')).toMatchObject({ state: 'cancelled' });
  });

  it('may let the task of a queue run again', async () => {
    const cluster = newCluster();
    const node = worker(cluster, () => {
      throw new InvalidTaskError('bad');
    });
    await node.tasks.submitSerial('q', MAIL);
    await cluster.time.advance(1000);
    const other = cluster.node();
    const end = awayAfter(other, 'replace');
    await expect(other.tasks.retry(MAIL)).rejects.toBeInstanceOf(UnknownOutcomeError);
    end();
    expect(await other.tasks.find(MAIL)).toMatchObject({ state: 'blocked' });
  });
});
