import type { StoredPermit } from 'nestjs-gatekeeper';
import type { HazelcastCluster } from 'nestjs-gatekeeper/testing';
import { sharedNow } from '../../apps/say.js';
import type { AppSettings } from '../../apps/settings.js';
import { type Like, NodeProcess, type NodeSaid } from './node-process.js';
import { eventually } from '../../../test/contract/eventually.js';
import type { WrongClock } from './wrong-clock.js';

/** The nodes of one cluster. */
export class Nodes implements AsyncDisposable {
  readonly #nodes: NodeProcess[] = [];

  constructor(private readonly cluster: HazelcastCluster) {}

  async start(settings: Pick<AppSettings, 'name' | 'jobs' | 'resource' | 'options'>, clock?: WrongClock) {
    const { clusterName, addresses } = this.cluster;
    const node = new NodeProcess({ clusterName, members: addresses, ...settings }, { clock });
    this.#nodes.push(node);
    await node.ready();
    return node;
  }

  get running(): NodeProcess[] {
    return this.#nodes.filter((node) => node.isRunning);
  }

  node(name: string): NodeProcess {
    return this.#nodes.find((node) => node.name === name)!;
  }

  /** Matching lines of all nodes, ordered by time. */
  all(event: string, like: Like = {}, since = 0): NodeSaid[] {
    return this.#nodes.flatMap((node) => node.all(event, like, since)).toSorted((one, other) => one.at - other.at);
  }

  /** Waits for the next that any of them says. See {@link NodeProcess.hears}. */
  async hears(event: string, like: Like = {}, when: { since?: number; within?: number } = {}): Promise<NodeSaid> {
    const { since = sharedNow(), within = 20_000 } = when;
    const what = `some node says ${event} ${JSON.stringify(like)}`;
    return (await eventually(what, () => this.all(event, like, since)[0] ?? false, within)) as NodeSaid;
  }

  /**
   * The permit in slot 0 as the store has it. A node that was killed has not always said its last: a refresh may have
   * been under way.
   */
  async storedPermit(semaphore: string): Promise<StoredPermit> {
    const { semaphores } = await this.running[0]!.state();
    return semaphores.find(({ name }) => name === semaphore)!.holders.find(({ slot }) => slot === 0)!;
  }

  /** Lines of all nodes that no healthy process logs. */
  get faults(): string[] {
    return this.#nodes.flatMap(({ faults }) => faults);
  }

  /** Ends all that run, in whatever state they are. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node[Symbol.asyncDispose]()));
  }
}
