import { eventually } from '../../../test/contract/eventually.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { type DeliveryState, QueueClaims, doubleOwnersIn } from './queue-claims.js';
import { BUSY, MORE_LINES, ON_HAZELCAST, RunningSample } from './running-sample.js';

const SECOND = 1000;
const LEASE = 4 * SECOND;
const CLOCK_TOLERANCE = 500;
/** Until the queues of a node that died have other owners. */
const MOVED = LEASE + CLOCK_TOLERANCE + 5 * SECOND;
const QUEUES = 12;
const POLLED = /\[poller\] polled/;
const DELIVERED = /delivered message (\d+) of (\w+), with token (\d+)/;

describeOnHazelcast('the queues of the sample: three processes and a real member', () => {
  let sample: RunningSample;
  let claims: QueueClaims;
  beforeAll(async () => {
    sample = await RunningSample.start(ON_HAZELCAST);
    sample.press(MORE_LINES);
    claims = new QueueClaims(sample);
  });
  afterAll(async () => {
    await sample?.[Symbol.asyncDispose]();
    await claims?.[Symbol.asyncDispose]();
  });

  it('have one owner each, evenly, and all nodes say the same', async () => {
    const states = await dividedOver(sample.ports, 60 * SECOND);
    for (const { owners, node, owned } of states) {
      expect(owners).toEqual(states[0]!.owners);
      expect(ownedBy(node, owners)).toEqual(owned.map(({ queue }) => queue).toSorted());
    }
  });

  it('are delivered by their owners only', async () => {
    const [{ owners }] = await dividedOver(sample.ports);
    const from = performance.now();
    const perQueue = () => new Map(deliveries(from).map((each) => [each.queue, `app-${each.port}`]));
    await eventually('a message of each queue was delivered', () => perQueue().size === QUEUES, 30 * SECOND);
    expect(Object.fromEntries(perQueue())).toEqual(owners);
    expect(new Set(deliveries(from).map(({ queue, port }) => `${queue} ${port}`)).size).toBe(QUEUES);
  });

  it('get messages from the leader alone', async () => {
    const leader = await leaderOf(sample.ports);
    const from = performance.now();
    await eventually('three polls', () => sample.lines(POLLED, from).length > 2, 10 * SECOND + BUSY);
    expect(new Set(sample.lines(POLLED, from).map(({ port }) => port))).toEqual(new Set([leader]));
  });

  it('go to the other nodes when a node freezes, which delivers nothing by its former tokens after it wakes', async () => {
    const leader = await leaderOf(sample.ports);
    const [frozen] = sample.others(leader) as [number];
    const { owned: former } = await sample.delivery(frozen);
    process.kill(sample.pid(frozen), 'SIGSTOP');
    await dividedOver(sample.others(frozen), MOVED);
    await eventually(
      'others deliver its messages',
      () => {
        const since = deliveries().filter(({ port }) => port !== frozen);
        return former.every((each) => since.some(({ queue, token }) => queue === each.queue && token > each.token));
      },
      30 * SECOND,
    );
    const woken = performance.now();
    process.kill(sample.pid(frozen), 'SIGCONT');
    await dividedOver(sample.ports, 30 * SECOND);
    const stale = new Map(former.map(({ queue, token }) => [queue, token]));
    const late = deliveries(woken).filter(({ port, queue, token }) => port === frozen && stale.get(queue) === token);
    expect(late).toEqual([]);
  });

  it('go to the other nodes when the leader is killed, and another node polls', async () => {
    const killed = await leaderOf(sample.ports);
    const last = sample.lines(POLLED).at(-1)!;
    process.kill(sample.pid(killed), 'SIGKILL');
    const living = sample.others(killed);
    const [{ owners }] = await dividedOver(living, MOVED);
    expect(new Set(Object.values(owners))).toEqual(new Set(living.map((port) => `app-${port}`)));
    const first = await sample.nextLine(POLLED, MOVED, living);
    expect(tokenIn(first.text)).toBeGreaterThan(tokenIn(last.text));
    const from = performance.now();
    const alive = () => new Set(deliveries(from).map(({ queue }) => queue));
    await eventually('a message of each queue was delivered', () => alive().size === QUEUES, 30 * SECOND);
  });

  it('never had two owners, by the answers and the logs of all nodes', async () => {
    expect(claims.claims.length).toBeGreaterThan(QUEUES * 100);
    expect(doubleOwnersIn(claims.claims)).toEqual([]);
    const all = deliveries();
    expect(new Set(all.map(({ queue, message }) => `${queue} ${message}`)).size).toBe(all.length);
    // The log as a list of claims: the lines of a queue, in the order of its messages.
    const logged = all.map((each) => ({ ...each, asked: each.message, answered: each.message }));
    expect(doubleOwnersIn(logged)).toEqual([]);
  });

  /** Waits until so many nodes own all queues evenly, each queue once. */
  async function dividedOver(ports: readonly number[], within = 10 * SECOND) {
    return eventually(
      `the queues are divided over ${ports.join(', ')}`,
      async () => {
        const states = await Promise.all(ports.map((port) => sample.delivery(port)));
        const sizes = states.map(({ owned }) => owned.length);
        const all = new Set(states.flatMap(({ owned }) => owned.map(({ queue }) => queue)));
        const isDone = all.size === QUEUES && sizes.every((size) => size === QUEUES / ports.length);
        return isDone && (states as [DeliveryState, ...DeliveryState[]]);
      },
      within + BUSY,
    );
  }

  async function leaderOf(ports: readonly number[]): Promise<number> {
    const states = await Promise.all(ports.map((port) => sample.delivery(port)));
    const leaders = ports.filter((_, at) => states[at]!.isLeader);
    expect(leaders).toHaveLength(1);
    return leaders[0]!;
  }

  function deliveries(from = 0) {
    return sample.lines(DELIVERED, from).map(({ port, text }) => {
      const [, message, queue, token] = DELIVERED.exec(text)!;
      return { port, queue: queue!, message: Number(message), token: Number(token) };
    });
  }
});

describe('the check for two owners', () => {
  const claim = { queue: 'berlin', port: 1, token: 5, asked: 10, answered: 20 };

  it.each([
    ['the next owner has a higher token', { port: 2, token: 6, asked: 21, answered: 30 }, []],
    ['a late answer overlaps that of the next owner', { port: 2, token: 6, asked: 5, answered: 12 }, []],
    [
      'a node asked later has an older token',
      { port: 2, token: 4, asked: 21, answered: 30 },
      ['berlin: 2 claims it after 1 got it'],
    ],
    ['two nodes have one token', { port: 2, token: 5, asked: 21, answered: 30 }, ['berlin: 1,2 have one token']],
    ['the queue is another', { port: 2, queue: 'cairo', token: 4, asked: 21, answered: 30 }, []],
  ])('says what is wrong when %s', (_, other, faults) => {
    expect(doubleOwnersIn([claim, { ...claim, ...other }])).toEqual(faults);
  });
});

const tokenIn = (text: string): number => Number(/token (\d+)/.exec(text)![1]);

const ownedBy = (node: string, owners: DeliveryState['owners']): string[] =>
  Object.keys(owners)
    .filter((queue) => owners[queue] === node)
    .toSorted();
