import type { LivingNode, LivingNodes } from '../../../lib/tasks/sweep/readdressing.js';
import { StoreUnavailableError } from '../../../lib/core/store/index.js';
import type { Chance } from '../world/chance.js';
import type { TaskNode } from './task-node.js';
import type { TasksScene } from './tasks-scene.js';

/** ms between two heartbeats of a node. */
const BEAT = 500;
/** ms after which a node without a heartbeat is taken for gone. */
const GONE = 2500;
/** ms after which a new node must be listed. */
const NEW = 4000;

interface Entry {
  readonly node: LivingNode;
  readonly at: number;
}

/**
 * The list of living nodes, which each node sees late: a crashed one stays listed for a while, and one that is frozen or
 * isolated for long is missing although it lives.
 */
export class LivingList {
  readonly #entries = new Map<string, Entry>();
  readonly #startedAt = new Map<string, number>();
  /** Instances that were missing in a list. */
  readonly #missed = new Set<string>();

  constructor(
    private readonly scene: TasksScene,
    private readonly chance: Chance,
  ) {
    this.#beat();
  }

  /** The list as one node gets it. */
  for(node: TaskNode): LivingNodes {
    const { time, cluster } = this.scene;
    return () =>
      new Promise((resolve, reject) => {
        time.after(this.chance.skewed(0.1, 20), () => {
          const isLost = node.isCut || cluster.isDown || this.chance.happens(cluster.faultMix.lostRequest);
          const answer = isLost ? undefined : this.#list();
          node.process.io(() => (answer ? resolve(answer) : reject(new StoreUnavailableError('simulated: no list'))));
        });
      });
  }

  /**
   * Whether the process has ended, or a list has said so. One that ends soon after its start may be in no list: a task of it
   * moves at once if a clock that was set ahead lets the task look old.
   */
  wasGone(instance: string): boolean {
    return this.#missed.has(instance) || !this.scene.nodes.find(({ name }) => name === instance)?.isLiving;
  }

  #list(): LivingNode[] {
    const { time, nodes } = this.scene;
    const listed = [...this.#entries].filter(([, { at }]) => time.now - at < GONE);
    const instances = new Set(listed.map(([instance]) => instance));
    for (const { name } of nodes) {
      const isNew = time.now - (this.#startedAt.get(name) ?? time.now) < NEW;
      if (!instances.has(name) && (this.#entries.has(name) || !isNew)) this.#missed.add(name);
    }
    return listed.map(([, { node }]) => node);
  }

  #beat(): void {
    const { time, nodes, cluster } = this.scene;
    for (const node of nodes) {
      const { name, process, tasks, identity } = node;
      if (!this.#startedAt.has(name)) this.#startedAt.set(name, time.now);
      if (!process.isRunning || node.hasClosed || node.isCut || cluster.isDown) continue;
      this.#entries.set(name, { node: { ...identity, tasks: tasks.work.list(tasks.handlers) }, at: time.now });
    }
    time.after(BEAT, () => this.#beat());
  }
}
