import { type AllocationGroup, Gatekeeper, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { LongestBlock } from '../../../test/console/longest-block.js';
import { eventually } from '../../../test/contract/eventually.js';
import { FEW_SHARDS, bear } from '../../../test/support/born.js';

/** ms */
const LIMIT = 20;
const TRIES = 3;
const PATIENCE = 30_000;
const SILENT = { log() {}, warn() {}, error: console.error, debug() {} };
const TIMES = { clockTolerance: '100ms', membership: { lease: '2s' }, definitionsDelay: 0 } as const;

interface Node {
  readonly gatekeeper: Gatekeeper;
  readonly group: AllocationGroup<string>;
}

/** Nodes in this process, in real time, and the longest block of each step. */
class Scene {
  readonly #memory = memory();
  readonly #raw = this.#memory.open();
  readonly #block = new LongestBlock();
  readonly #least: Map<string, number>;
  readonly nodes: Node[] = [];
  #ids: readonly string[];

  constructor(count: number, least: Map<string, number>) {
    this.#ids = Array.from({ length: count }, (_, index) => `resource-${String(index).padStart(6, '0')}`);
    this.#least = least;
  }

  async open(nodes: number): Promise<void> {
    await bear(this.#raw, Date.now());
    this.#block.take();
    for (let each = 0; each < nodes; each++) await this.add();
  }

  async add(): Promise<void> {
    const group = { name: 'queues', resources: () => this.#ids, id: String, refreshInterval: '1h', settleDelay: 100 };
    const groups = [{ ...group, onAllocated: () => undefined }];
    const acquirer = `app${this.nodes.length}`;
    const options = parseGatekeeperOptions({ ...TIMES, store: this.#memory, acquirer, allocation: { groups } });
    const gatekeeper = new Gatekeeper(options, SILENT, { shards: FEW_SHARDS });
    this.nodes.push({ gatekeeper, group: gatekeeper.allocation.group<string>('queues') });
    await gatekeeper.start();
    await gatekeeper.allocation.start();
  }

  /** The work that a step leaves behind counts for the next one. */
  async step(name: string, act: () => unknown, isDone: () => boolean = () => true): Promise<void> {
    await act();
    await eventually(name, isDone, PATIENCE);
    await new Promise((resolve) => setImmediate(resolve));
    this.#least.set(name, Math.min(this.#block.take(), this.#least.get(name) ?? Infinity));
  }

  /** The resources have a new end from now on. @returns the last id */
  change(): string {
    const fresh = Array.from({ length: 500 }, (_, index) => `new-${String(index).padStart(6, '0')}`);
    this.#ids = [...fresh, ...this.#ids.slice(500)];
    this.#block.take();
    return fresh.at(-1)!;
  }

  loseRoot(): void {
    const { cluster } = this.#raw as unknown as { cluster: { records: { texts: Map<string, string> } } };
    cluster.records.texts.delete('allocation:root:queues');
  }

  get isEven(): boolean {
    const sizes = this.nodes.map(({ group }) => group.owned().length);
    const total = sizes.reduce((sum, size) => sum + size);
    return total === this.#ids.length && Math.max(...sizes) - Math.min(...sizes) <= 1;
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map(({ gatekeeper }) => gatekeeper.close()));
    this.#block.close();
  }
}

describe('nodes that share resources', () => {
  const scenes: Scene[] = [];
  const closeAll = () => Promise.all(scenes.splice(0).map((scene) => scene.close()));
  afterEach(closeAll);

  async function play(resources: number, nodes: number, least: Map<string, number>): Promise<void> {
    const scene = new Scene(resources, least);
    scenes.push(scene);
    const isEven = () => scene.isEven;
    await scene.step('a start', () => scene.open(nodes), isEven);
    const { group } = scene.nodes[0]!;
    const id = scene.change();
    const hasNew = () => scene.isEven && scene.nodes.some((node) => node.group.owns(id));
    await scene.step('other resources', () => Promise.all(scene.nodes.map((node) => node.group.rebalance())), hasNew);
    await scene.step('plan()', () => group.plan());
    await scene.step('plan() of a drain', () => group.plan({ drain: ['app0'] }));
    await scene.step('overview()', () => group.overview());
    await scene.step('moves()', () => group.moves({ resource: 'resource' }));
    const { token } = group.owned()[0]!;
    await scene.step(
      'a lost root',
      () => scene.loseRoot(),
      () => group.owned()[0]!.token > token && isEven(),
    );
    await scene.step('a join', () => scene.add(), isEven);
    await scene.step('overview() of a new node', () => scene.nodes.at(-1)!.group.overview());
    await scene.step('a leave', () => scene.nodes.pop()!.gatekeeper.close(), isEven);
    await closeAll();
  }

  it.each([
    { resources: 100_000, nodes: 1 },
    { resources: 10_000, nodes: 3 },
    { resources: 10_000, nodes: 10 },
  ])('block the event loop for no more than 20 ms: $resources on $nodes', async ({ resources, nodes }) => {
    const least = new Map<string, number>();
    const tooLong = () => [...least].filter(([, longest]) => longest > LIMIT);
    for (let attempt = 0; attempt < TRIES && (attempt === 0 || tooLong().length > 0); attempt++) {
      await play(resources, nodes, least);
    }
    for (const [name, longest] of least) console.log(`${resources} on ${nodes}: ${name}: ${longest.toFixed(1)} ms`);
    expect(tooLong()).toEqual([]);
  });
});
