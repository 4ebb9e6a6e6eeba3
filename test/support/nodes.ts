import {
  Gatekeeper,
  type GatekeeperEvent,
  type GatekeeperOptions,
  type Driver,
  type SemaphoreDefinitionInput,
  type StoreDefinition,
  memory,
  parseGatekeeperOptions,
} from 'nestjs-gatekeeper';
import { SHARD_PREFIX, shardOf } from '../../lib/core/decision/index.js';
import { FEW_SHARDS, bear } from './born.js';
import type { NodeClock } from '../../lib/core/async/node-clock.js';
import { FakeTime, settled } from './fake-time.js';
import './loaded-code.js';
import { type ScriptedStore, scripted } from './scripted-store.js';

export interface TestNode {
  readonly gatekeeper: Gatekeeper;
  readonly events: GatekeeperEvent[];
  /** The log; each line begins with its level. */
  readonly log: string[];
  readonly store: ScriptedStore;
  /** The events of one type, in order. */
  of<T extends GatekeeperEvent['type']>(type: T): Extract<GatekeeperEvent, { type: T }>[];
}

export const JOB: SemaphoreDefinitionInput = { name: 'job', duration: '10s' };

/** Only what a test does asks the store. */
const QUIET = { heartbeat: 0, history: false };

/** Nodes of one cluster with time that the test moves. */
export class TestCluster {
  readonly time = new FakeTime();
  readonly memory: StoreDefinition = memory({ clock: this.time.cluster });
  /** The bare store, for a look at the texts. */
  readonly raw: Driver = this.memory.open();
  readonly #nodes: TestNode[] = [];
  #born?: Promise<void>;

  /** A node that has loaded its definitions, in a cluster that was born before. */
  async node(options: Partial<GatekeeperOptions> = {}, nodeClock?: NodeClock): Promise<TestNode> {
    await this.bear();
    const node = this.unstarted({ definitions: [JOB], definitionsDelay: 0, ...options }, nodeClock);
    await node.gatekeeper.start();
    await this.time.advance(0);
    return node;
  }

  /** @param nodeClock of this node alone; default: the time of all nodes */
  unstarted(
    options: Partial<GatekeeperOptions> = {},
    nodeClock: NodeClock = this.time,
    { isTransient = false }: { readonly isTransient?: boolean } = {},
  ): TestNode {
    const { store, definition } = scripted(this.memory);
    const log: string[] = [];
    const level = (name: string) => (message: string) => void log.push(`${name} ${message}`);
    const logger = { log: level('log'), warn: level('warn'), error: level('error'), debug: level('debug') };
    const gatekeeper = new Gatekeeper(
      parseGatekeeperOptions({ ...QUIET, store: definition, acquirer: `app${this.#nodes.length + 1}`, ...options }),
      logger,
      { nodeClock, shards: FEW_SHARDS, isTransient },
    );
    const events: GatekeeperEvent[] = [];
    gatekeeper.events$.subscribe((event) => events.push(event));
    const of = <T extends GatekeeperEvent['type']>(type: T) =>
      events.filter((event): event is Extract<GatekeeperEvent, { type: T }> => event.type === type);
    const node = { gatekeeper, events, log, store, of };
    this.#nodes.push(node);
    return node;
  }

  /** An earlier node has made the shards of the names on demand. */
  bear(): Promise<void> {
    this.#born ??= bear(this.raw, this.time.cluster());
    return this.#born;
  }

  /** The record of a semaphore as it stands in the store. */
  async record(name = 'job'): Promise<{ permits: { id: string; expiresAt: number; holder: string }[]; seq: number }> {
    return JSON.parse((await this.raw.records.read(keyOf(name)))!);
  }

  async overwrite(text: string | undefined, name = 'job'): Promise<void> {
    if (text === undefined) this.#texts.delete(keyOf(name));
    else this.#texts.set(keyOf(name), text);
  }

  /** The store loses one text. */
  lose(key: string): void {
    this.#texts.delete(key);
  }

  /** The store loses everything. */
  loseAll(): void {
    this.#texts.clear();
  }

  get #texts(): Map<string, string> {
    return (this.raw as unknown as { cluster: { records: { texts: Map<string, string> } } }).cluster.records.texts;
  }

  /** Closes one of several nodes. A write of it that collides with one of another node waits in simulated time. */
  async closeOne({ gatekeeper }: Pick<TestNode, 'gatekeeper'>): Promise<void> {
    await this.#end(gatekeeper.close(), 1);
  }

  async close(): Promise<void> {
    const closing = Promise.all(this.#nodes.map(({ gatekeeper }) => gatekeeper.close()));
    await this.time.advance(20_000);
    await this.#end(closing, 100);
  }

  /** Moves time until calls have ended: what comes after a real call, such as one of a file, may wait in simulated time. */
  async #end(closing: Promise<unknown>, step: number): Promise<void> {
    const ended = closing.then(
      () => true,
      () => true,
    );
    // Then the test runs into its own time limit.
    const deadline = performance.now() + 20_000;
    for (let hasEnded = false; !hasEnded && performance.now() < deadline;) {
      await this.time.advance(step);
      hasEnded = await Promise.race([ended, Promise.resolve(false)]);
    }
    await closing;
  }
}

export const keyOf = (name: string) => `semaphore:${name}`;

/** The key of the shard that a name on demand belongs to. */
export const shardKeyOf = (name: string) => SHARD_PREFIX + shardOf(name, FEW_SHARDS);

/** A cluster that is closed when the test ends. */
export function useCluster(): () => TestCluster {
  const clusters: TestCluster[] = [];
  afterEach(async () => {
    await Promise.all(clusters.splice(0).map((cluster) => cluster.close()));
  });
  return () => {
    const cluster = new TestCluster();
    clusters.push(cluster);
    return cluster;
  };
}

/** Outcome of a promise as soon as nothing more can happen without the passing of time. */
export async function outcomeOf<T>(
  promise: Promise<T>,
): Promise<{ value: T; error?: undefined } | { error: Error } | 'pending'> {
  const outcome = promise.then(
    (value) => ({ value }),
    (error: Error) => ({ error }),
  );
  return Promise.race([outcome, settled().then(() => 'pending' as const)]);
}

/** A run's work that goes on until the test ends it. */
export function openEnd<T = void>(): { work: () => Promise<T>; end: (value: T) => void; started: Promise<void> } {
  let end!: (value: T) => void;
  let begin!: () => void;
  const started = new Promise<void>((resolve) => (begin = resolve));
  const done = new Promise<T>((resolve) => (end = resolve));
  return { work: () => (begin(), done), end, started };
}
