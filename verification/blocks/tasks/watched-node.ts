import { randomUUID } from 'node:crypto';
import { type GatekeeperOptions, Gatekeeper, hazelcast, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import type { HazelcastCluster } from 'nestjs-gatekeeper/testing';
import { LongestBlock } from '../../../test/console/longest-block.js';

/** Nearly the largest data, and the largest result, that are allowed unless the options say otherwise. */
export const LARGE = 'x'.repeat(64 * 1024 - 100);
/** ms; what nothing may take up of the event loop in one go. */
const LIMIT = 20;
const QUIET = { log() {}, warn() {}, error() {}, debug() {} };

/** The stores by name, as options want them. */
export const storesOf = (cluster: () => HazelcastCluster) => ({
  memory: () => memory(),
  hazelcast: () => {
    const { clusterName, addresses } = cluster();
    return hazelcast({ clusterName, members: addresses, mapName: randomUUID() });
  },
});

/** A node, and the longest block of the event loop in each step of its work. */
export class WatchedNode {
  /** Events of errors in the background. */
  readonly problems: unknown[] = [];
  readonly #block = new LongestBlock();
  /** ms by step. */
  readonly #longest: Record<string, number> = {};

  private constructor(private readonly gatekeeper: Gatekeeper) {
    gatekeeper.events$.subscribe((event) => event.type === 'problem' && this.problems.push(event));
  }

  static async start(options: Pick<GatekeeperOptions, 'store' | 'tasks'>): Promise<WatchedNode> {
    const node = new WatchedNode(new Gatekeeper(parseGatekeeperOptions({ acquirer: 'node', ...options }), QUIET));
    await node.gatekeeper.start();
    await node.gatekeeper.ready();
    return node;
  }

  get tasks() {
    return this.gatekeeper.tasks;
  }

  async step<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.#block.take();
    const done = await work();
    this.#longest[name] = Math.round(this.#block.take() * 10) / 10;
    return done;
  }

  /** The steps that blocked the event loop for too long. */
  get tooLong(): [step: string, ms: number][] {
    return Object.entries(this.#longest).filter(([, ms]) => ms >= LIMIT);
  }

  /** Each step with its longest block, in ms. */
  get summary(): string {
    return JSON.stringify(this.#longest);
  }

  async close(): Promise<void> {
    this.#block.close();
    await this.gatekeeper.close();
  }
}
