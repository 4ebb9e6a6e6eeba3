import { setTimeout as pause } from 'node:timers/promises';
import { Gatekeeper, type Driver, hazelcast, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { COOLDOWN } from '../../../lib/leadership/cooldown.js';
import { type HazelcastCluster, startHazelcast } from '../../../lib/testing/index.js';
import { eventually } from '../../../test/contract/eventually.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { figure } from './figure.js';

const SILENT = { log: () => {}, warn: () => {}, error: () => {}, debug: () => {} };

/** ms between two answers of the member, within a calm round */
const STALL = 50;
/** ms in which calm rounds of one kind are awaited */
const PATIENCE = 60_000;

/** Asks the member all the time, by a client of its own: that shows for how long a busy machine let it or this process wait. */
class Pulse implements AsyncDisposable {
  readonly #store: Driver;
  readonly #ended = new AbortController();
  readonly #asking: Promise<void>;
  #last = performance.now();
  #longest = 0;

  constructor({ clusterName, addresses: members }: HazelcastCluster) {
    this.#store = hazelcast({ clusterName, members }).open({ callTimeout: 30_000 });
    this.#asking = this.#ask();
  }

  /** @returns the longest time in ms between two answers since the last call */
  take(): number {
    const longest = Math.max(this.#longest, performance.now() - this.#last);
    this.#longest = 0;
    return longest;
  }

  async #ask(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      await this.#store.records.read('pulse');
      const now = performance.now();
      this.#longest = Math.max(this.#longest, now - this.#last);
      this.#last = now;
      await pause(2);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#asking;
    await this.#store.close();
  }
}

/** Nodes in this process, with the times at which each began to lead. */
class Leaders implements AsyncDisposable {
  readonly nodes: Gatekeeper[] = [];
  readonly gains: { readonly node: Gatekeeper; readonly at: number }[] = [];

  constructor(private readonly cluster: HazelcastCluster) {}

  async start(count: number): Promise<void> {
    for (let each = 1; each <= count; each++) await this.add();
    await eventually(
      'a node leads and sees all',
      () => this.leader?.cluster.status().participants.length === count,
      20_000,
    );
  }

  async add(): Promise<void> {
    const { clusterName, addresses: members } = this.cluster;
    const store = hazelcast({ clusterName, members });
    const acquirer = `app${this.nodes.length + 1}`;
    const options = { store, acquirer, definitionsDelay: 0, heartbeat: 0, leadership: { lease: '5s' } };
    const node = new Gatekeeper(parseGatekeeperOptions(options), SILENT);
    node.events$.subscribe(
      ({ type }) => type === 'leadership-gained' && this.gains.push({ node, at: performance.now() }),
    );
    this.nodes.push(node);
    await node.start();
    await node.cluster.initialize();
  }

  get leader(): Gatekeeper | undefined {
    const leaders = this.nodes.filter(({ cluster }) => cluster.scope().isLeader);
    if (leaders.length > 1) throw new Error(`${leaders.length} leaders at once`);
    return leaders[0];
  }

  /**
   * Hands over again and again, until so many rounds were calm: those in which the machine let no process wait. If it takes
   * too long, the calmest count.
   *
   * @param endRound called with the former leader when another node leads, and not measured
   * @returns of each round that counts the ms from the begin of the handover until another node led
   */
  async measure(
    what: string,
    count: number,
    handOver: (leader: Gatekeeper) => Promise<unknown>,
    endRound: (former: Gatekeeper) => unknown,
  ): Promise<number[]> {
    await using pulse = new Pulse(this.cluster);
    const rounds: { readonly time: number; readonly stall: number }[] = [];
    const deadline = performance.now() + PATIENCE;
    const calm = () => rounds.filter(({ stall }) => stall < STALL).length;
    while (rounds.length < count || (calm() < count && performance.now() < deadline)) {
      await eventually('a node leads', () => this.leader !== undefined, 20_000);
      const former = this.leader!;
      rounds.push(await this.#handOver(former, pulse, handOver));
      await endRound(former);
    }
    const times = rounds
      .toSorted((one, other) => one.stall - other.stall)
      .slice(0, count)
      .map(({ time }) => time);
    figure(`${count} of ${rounds.length} ${what}: median`, medianOf(times));
    figure(`${count} of ${rounds.length} ${what}: longest`, Math.max(...times));
    return times;
  }

  async #handOver(former: Gatekeeper, pulse: Pulse, handOver: (leader: Gatekeeper) => Promise<unknown>) {
    pulse.take();
    const [gains, begun] = [this.gains.length, performance.now()];
    const handing = handOver(former);
    await eventually('another node leads', () => this.gains.length > gains, 20_000);
    const { node, at } = this.gains[gains]!;
    const [time, stall] = [at - begun, pulse.take()];
    await handing;
    // After that time the former leader no longer lets others go first: only a machine that let all wait gets there.
    if (time < COOLDOWN)
      expect({ led: node.node.acquirer, time, stall }).not.toMatchObject({ led: former.node.acquirer });
    return { time, stall };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
  }
}

const medianOf = (times: readonly number[]) =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)]!;

describeOnHazelcast('leadership on one member', () => {
  let cluster: HazelcastCluster;
  beforeAll(async () => void (cluster = await startHazelcast({ members: 1, clusterName: 'leadership-spec' })));
  afterAll(() => cluster.stop());

  it('goes to another node within 200 ms after a transfer, a resignation and a shutdown', async () => {
    await using leaders = new Leaders(cluster);
    await leaders.start(12);
    const { nodes } = leaders;
    let target: Gatekeeper;
    const transfers = await leaders.measure(
      'transfers',
      24,
      (leader) => {
        target = nodes[(nodes.indexOf(leader) + 3) % nodes.length]!;
        return leader.cluster.transferTo(target.node.instance);
      },
      () => expect(leaders.gains.at(-1)!.node).toBe(target),
    );
    const addOne = () => leaders.add();
    const shutdowns = await leaders.measure('shutdowns', 5, (leader) => leader.close(), addOne);
    // A node that resigned lets others go first: another one takes its place.
    const resign = (leader: Gatekeeper) => leader.cluster.scope().resign();
    const resignations = await leaders.measure('resignations', 5, resign, (former) =>
      Promise.all([former.close(), leaders.add()]),
    );
    for (const times of [transfers, shutdowns, resignations]) expect(medianOf(times)).toBeLessThan(200);
  });
});
