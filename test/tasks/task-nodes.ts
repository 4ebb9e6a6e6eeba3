import { Subject } from 'rxjs';
import type { GatekeeperEvent } from 'nestjs-gatekeeper';
import { memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { systemRandomness } from '../../lib/core/async/random-ids.js';
import { type Context, createContext } from '../../lib/core/context/context.js';
import { SemaphoreDirectory } from '../../lib/core/permits/semaphore-directory.js';
import { type TaskFunction, Tasks } from '../../lib/tasks/index.js';
import { TaskStore } from '../../lib/tasks/records/task-store.js';
import type { Driver, HintQueue } from '../../lib/core/store/index.js';
import type { MemoryDriver } from '../../lib/stores/memory/memory.driver.js';
import { FakeTime } from '../support/fake-time.js';
import '../support/loaded-code.js';

export const LEASE = 10_000;
export const GRACE = 3000;
/** Limits of a group's handler that is soon forgotten, and survives many crashes. */
export const SHORT_GROUP = { retention: '5m', deadLetterRetention: '5m', maxCrashes: 100 } as const;

/** A node with tasks. */
export interface TaskNode {
  readonly tasks: Tasks;
  readonly context: Context;
  /** Below the store, and so below the deadlines of its calls: here a test stands between. */
  readonly driver: Driver;
  readonly store: TaskStore;
  readonly events: GatekeeperEvent[];
  of<T extends GatekeeperEvent['type']>(type: T): Extract<GatekeeperEvent, { type: T }>[];
}

interface NodeParts {
  readonly heartbeat?: boolean;
  readonly maxRetainedBytes?: number;
  /** False for a node that only submits. */
  readonly work?: boolean;
  readonly time?: FakeTime;
}

/** Nodes that share one `memory()`, with time that the test moves. */
export class TaskCluster {
  readonly time = new FakeTime();
  #ahead = 0;
  readonly #memory = memory({ clock: () => this.time.cluster() + this.#ahead });
  readonly #nodes: TaskNode[] = [];
  readonly #dead = new Set<TaskNode>();
  /** Those whose processes have ended. */
  readonly #lost = new Set<TaskNode>();

  /** `heartbeat`: whether the node knows which others live. `time`: that of its machine, which the test moves, too. */
  node({ heartbeat = true, maxRetainedBytes, work = true, time = this.time }: NodeParts = {}): TaskNode {
    const driver = this.#memory.open();
    const store = { ...this.#memory, open: () => driver };
    const settings = parseGatekeeperOptions({ store, acquirer: `app${this.#nodes.length + 1}` });
    const random = systemRandomness();
    const context = createContext(settings, {
      node: { group: 'default', acquirer: settings.acquirer, instance: random.instance() },
      nodeClock: time,
      random,
      isClosing: () => false,
      grantFault: () => undefined,
    });
    const events: GatekeeperEvent[] = [];
    (context.events as Subject<GatekeeperEvent>).subscribe((event) => events.push(event));
    context.clusterClock.start();
    const living = async () =>
      this.#nodes
        .filter((each) => !this.#dead.has(each))
        .map((each) => ({ ...each.context.node, tasks: each.tasks.work.list(each.tasks.handlers) }));
    const nodes = heartbeat ? living : undefined;
    const directory = directoryOf(context);
    const tasks = new Tasks({ context, directory, grace: GRACE, nodes, maxRetainedBytes, work });
    const of = <T extends GatekeeperEvent['type']>(type: T) =>
      events.filter((event): event is Extract<GatekeeperEvent, { type: T }> => event.type === type);
    const node = { tasks, context, driver, events, of, store: new TaskStore(context) };
    this.#nodes.push(node);
    returnHints(node, () => this.#lost.has(node));
    return node;
  }

  /** The clock of the store is stepped. */
  jumpClock(ms: number): void {
    this.#ahead += ms;
  }

  /** The node's process ends without a word: no call of the store is answered any more, and others see that. */
  die(node: TaskNode): void {
    loseAfter(node, 0);
    this.#lost.add(node);
    this.#dead.add(node);
  }

  /** Others take the node for dead, although it lives. @returns a function that ends that */
  hide(node: TaskNode): () => void {
    this.#dead.add(node);
    return () => void this.#dead.delete(node);
  }

  /** All texts of tasks and groups. */
  async texts(limit = 100): Promise<string[]> {
    const store = this.#memory.open() as MemoryDriver;
    const { tasks, groups } = store.cluster;
    await store.close();
    const entries = tasks.range('', '~', limit);
    return [...entries.map(({ text }) => text), ...[...groups.texts.values()].toSorted().slice(0, limit)];
  }

  async close(): Promise<void> {
    const closing = Promise.all(this.#nodes.map(({ tasks }) => tasks.handlers.close()));
    const times = new Set([this.time, ...this.#nodes.map(({ context }) => context.nodeClock as FakeTime)]);
    for (const time of times) await time.advance(20_000);
    await closing;
    for (const { context } of this.#nodes) {
      context.clusterClock.stop();
      context.timers.close();
      await context.store.close();
    }
  }
}

/** A store gives no hint to a connection that has ended, also if its poll began before. */
function returnHints({ driver }: TaskNode, isLost: () => boolean): void {
  const queue = driver.queue.bind(driver);
  const returning = (name: string): HintQueue => {
    const hints = queue(name);
    const poll = hints.poll.bind(hints);
    hints.poll = async (patience, signal) => {
      const hint = await poll(patience, signal);
      if (hint !== undefined && isLost()) await queue(name).offer([hint]);
      return isLost() ? new Promise<never>(() => undefined) : hint;
    };
    return hints;
  };
  driver.queue = returning;
}

/** Semaphores without any definition of code. */
export function directoryOf(context: Context): SemaphoreDirectory {
  const times = { patience: 0, sweepInterval: 60_000, announcement: 0 };
  return new SemaphoreDirectory(context, {
    isOwn: false,
    atOnce: false,
    requireDefinitions: false,
    isTransient: false,
    ...times,
  });
}

/** ms: longer than the sweep and its turn need. */
export const SWEPT = 15_000;

/** A node that handles `mail`, one at a time. */
export function worker(cluster: TaskCluster, handler: TaskFunction, keepAlive = true): TaskNode {
  const node = cluster.node();
  node.tasks.handlers.handle('mail', handler, { lease: LEASE, keepAlive, concurrency: 1 });
  node.tasks.handlers.start();
  return node;
}

/**
 * The node is lost after so many more writes of tasks and groups: the store has applied them, and does not answer from the
 * last one on.
 *
 * @returns whether it is lost by now
 */
export function loseAfter({ driver }: TaskNode, writes: number): () => boolean {
  const { records, tasks, groups } = driver;
  const queue = driver.queue.bind(driver);
  let left = writes;
  const never = new Promise<never>(() => undefined);
  const hang = (object: object, methods: readonly string[], isWrite = false) => {
    for (const method of methods) {
      const call = (object as Record<string, (...args: unknown[]) => unknown>)[method]!.bind(object);
      const lost = async (...args: unknown[]) => {
        if (left <= 0) return never;
        const answer = await call(...args);
        return isWrite && --left <= 0 ? never : answer;
      };
      Object.assign(object, { [method]: lost });
    }
  };
  for (const texts of [tasks, groups]) {
    hang(texts, ['compareAndSet'], true);
    hang(texts, ['read', 'readMany']);
  }
  hang(tasks, ['range']);
  hang(records, ['read', 'compareAndSet']);
  const lostQueue = (name: string): HintQueue => {
    const hints = queue(name);
    hang(hints, ['drain', 'peek', 'offer', 'remove', 'size']);
    // A member gives no hint to a connection that has ended.
    const poll = hints.poll.bind(hints);
    hints.poll = async (patience, signal) => {
      const hint = await poll(patience, signal);
      if (left > 0 || hint === undefined) return hint;
      await queue(name).offer([hint]);
      return never;
    };
    return hints;
  };
  driver.queue = lostQueue;
  return () => left <= 0;
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
