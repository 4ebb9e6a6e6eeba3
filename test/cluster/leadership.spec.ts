import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Gatekeeper, hazelcast, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { type HazelcastCluster, startHazelcast } from '../../lib/testing/index.js';
import { eventually } from '../contract/eventually.js';
import { describeOnHazelcast } from '../needs/members.js';
import { figure } from './figure.js';

const SILENT = { log: () => {}, warn: () => {}, error: () => {}, debug: () => {} };

/** Nodes in this process, with the times at which each began to lead. */
class Leaders implements AsyncDisposable {
  readonly nodes: Gatekeeper[] = [];
  readonly gains: { readonly node: Gatekeeper; readonly at: number }[] = [];

  constructor(private readonly cluster: HazelcastCluster) {}

  async start(count: number): Promise<void> {
    const { clusterName, addresses: members } = this.cluster;
    for (let each = 1; each <= count; each++) {
      const store = hazelcast({ clusterName, members });
      const options = { store, acquirer: `app${each}`, definitionsDelay: 0, heartbeat: 0, leadership: { lease: '5s' } };
      const node = new Gatekeeper(parseGatekeeperOptions(options), SILENT);
      node.events$.subscribe(
        ({ type }) => type === 'leadership-gained' && this.gains.push({ node, at: performance.now() }),
      );
      this.nodes.push(node);
      await node.start();
      await node.cluster.initialize();
    }
    await eventually(
      'a node leads and sees all',
      () => this.leader?.cluster.status().participants.length === count,
      20_000,
    );
  }

  get leader(): Gatekeeper | undefined {
    const leaders = this.nodes.filter(({ cluster }) => cluster.scope().isLeader);
    if (leaders.length > 1) throw new Error(`${leaders.length} leaders at once`);
    return leaders[0];
  }

  /** ms from the begin of the handover until another node led. */
  async measure(handOver: (leader: Gatekeeper) => Promise<unknown>): Promise<number> {
    await eventually('a node leads', () => this.leader !== undefined, 20_000);
    const [former, gains, begun] = [this.leader!, this.gains.length, performance.now()];
    const handing = handOver(former);
    await eventually('another node leads', () => this.gains.length > gains, 20_000);
    await handing;
    expect(this.gains[gains]!.node).not.toBe(former);
    return this.gains[gains]!.at - begun;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
  }
}

const medianOf = (times: readonly number[]) =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)]!;

describeOnHazelcast('leadership on one member', () => {
  let cluster: HazelcastCluster;
  beforeAll(async () => void (cluster = await startHazelcast({ members: 1, clusterName: 'leadership-spec' })), 90_000);
  afterAll(() => cluster.stop());

  it('goes to another node within 200 ms after a transfer, a resignation and a shutdown', async () => {
    await using leaders = new Leaders(cluster);
    await leaders.start(12);
    const { nodes } = leaders;
    const transfers: number[] = [];
    for (let round = 0; round < 24; round++) {
      const target = nodes[(nodes.indexOf(leaders.leader ?? nodes[0]!) + 3) % nodes.length]!;
      transfers.push(await leaders.measure((leader) => leader.cluster.transferTo(target.node.instance)));
      expect(leaders.gains.at(-1)!.node).toBe(target);
    }
    const shutdowns: number[] = [];
    for (let round = 0; round < 5; round++) shutdowns.push(await leaders.measure((leader) => leader.close()));
    // Last, because a node that resigned lets others go first.
    const resignations: number[] = [];
    for (let round = 0; round < 5; round++) {
      resignations.push(await leaders.measure((leader) => leader.cluster.scope().resign()));
    }
    for (const [what, times] of Object.entries({ transfers, shutdowns, resignations })) {
      figure(`${times.length} ${what}: median`, medianOf(times));
      figure(`${times.length} ${what}: longest`, Math.max(...times));
      expect(medianOf(times)).toBeLessThan(200);
    }
  }, 120_000);
});
