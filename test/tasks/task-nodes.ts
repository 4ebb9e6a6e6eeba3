import { afterEach } from '@jest/globals';
import { Subject } from 'rxjs';
import type { GatekeeperEvent } from 'nestjs-gatekeeper';
import { memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { systemRandomness } from '../../lib/async/random-ids.js';
import type { Context } from '../../lib/context/context.js';
import { createContext } from '../../lib/gatekeeper/create-context.js';
import { SemaphoreDirectory } from '../../lib/permits/semaphore-directory.js';
import { type TaskFunction, Tasks } from '../../lib/tasks/index.js';
import { TaskStore } from '../../lib/tasks/task-store.js';
import { FakeTime } from '../support/fake-time.js';

export const LEASE = 10_000;
export const GRACE = 3000;

/** A node with tasks. */
export interface TaskNode {
  readonly tasks: Tasks;
  readonly context: Context;
  readonly store: TaskStore;
  readonly events: GatekeeperEvent[];
  of<T extends GatekeeperEvent['type']>(type: T): Extract<GatekeeperEvent, { type: T }>[];
}

/** Nodes that share one `memory()`, with time that the test moves. */
export class TaskCluster {
  readonly time = new FakeTime();
  readonly #memory = memory({ clock: this.time.cluster });
  readonly #nodes: TaskNode[] = [];

  node(): TaskNode {
    const settings = parseGatekeeperOptions({ store: this.#memory, acquirer: `app${this.#nodes.length + 1}` });
    const random = systemRandomness();
    const context = createContext(settings, {
      node: { group: 'default', acquirer: settings.acquirer, instance: random.instance() },
      nodeClock: this.time,
      random,
      isClosing: () => false,
      grantFault: () => undefined,
    });
    const events: GatekeeperEvent[] = [];
    (context.events as Subject<GatekeeperEvent>).subscribe((event) => events.push(event));
    context.clusterClock.start();
    const tasks = new Tasks({ context, directory: directoryOf(context), grace: GRACE });
    const of = <T extends GatekeeperEvent['type']>(type: T) =>
      events.filter((event): event is Extract<GatekeeperEvent, { type: T }> => event.type === type);
    const node = { tasks, context, events, of, store: new TaskStore(context.store.tasks!, context) };
    this.#nodes.push(node);
    return node;
  }

  async close(): Promise<void> {
    const closing = Promise.all(this.#nodes.map(({ tasks }) => tasks.close()));
    await this.time.advance(20_000);
    await closing;
    for (const { context } of this.#nodes) {
      context.clusterClock.stop();
      context.timers.close();
      await context.store.close();
    }
  }
}

/** Semaphores without any definition of code. */
export function directoryOf(context: Context): SemaphoreDirectory {
  const times = { patience: 0, sweepInterval: 60_000, announcement: 0 };
  return new SemaphoreDirectory(context, { isOwn: false, atOnce: false, requireDefinitions: false, ...times });
}

/** ms: longer than the sweep and its turn need. */
export const SWEPT = 15_000;

/** A node that handles `mail`, one at a time. */
export function worker(cluster: TaskCluster, handler: TaskFunction, keepAlive = true): TaskNode {
  const node = cluster.node();
  node.tasks.handle('mail', handler, { lease: LEASE, keepAlive, concurrency: 1 });
  node.tasks.start();
  return node;
}

/** A function that makes a cluster, which is closed after the test. */
export function useTaskCluster(): () => TaskCluster {
  const clusters: TaskCluster[] = [];
  afterEach(async () => {
    for (const cluster of clusters.splice(0)) await cluster.close();
  });
  return () => {
    const cluster = new TaskCluster();
    clusters.push(cluster);
    return cluster;
  };
}
