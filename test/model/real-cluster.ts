import type { Permit } from 'nestjs-gatekeeper';
import { TestCluster, type TestNode } from '../support/nodes.js';
import { START } from '../support/fake-time.js';
import { DURATION, TOLERANCE } from './plain-model.js';

const SEMAPHORE = 'job';

/** Three nodes over the memory store, driven by the same moves as the model. */
export class RealCluster {
  readonly #cluster = new TestCluster();
  #nodes: { node: TestNode; uses: Permit[] }[] = [];

  static async start(): Promise<RealCluster> {
    const real = new RealCluster();
    for (let place = 0; place < 3; place++) real.#nodes[place] = await real.#boot();
    return real;
  }

  async acquire(place: number): Promise<Permit | undefined> {
    const { node, uses } = this.#nodes[place]!;
    const permit = await node.gatekeeper.tryAcquire(SEMAPHORE);
    if (permit) uses.push(permit);
    return permit;
  }

  async refresh(place: number): Promise<boolean> {
    const { node, uses } = this.#nodes[place]!;
    const permit = this.#held(place) ?? uses.at(-1);
    return permit ? node.gatekeeper.refresh(permit) : false;
  }

  async release(place: number): Promise<void> {
    const { uses } = this.#nodes[place]!;
    const permit = this.#held(place) ?? uses.at(-1);
    this.#nodes[place]!.uses = uses.filter((use) => use !== permit);
    await permit?.release();
    // A late answer changes nothing.
    await permit?.release();
  }

  async run(place: number, hold: boolean): Promise<number | undefined> {
    const work = (permit: { token: number }) => permit.token;
    const result = await this.#nodes[place]!.node.gatekeeper.run(SEMAPHORE, work, { atLeastFor: hold ? undefined : 0 });
    return result.executed ? result.value : undefined;
  }

  async edit(permits: number): Promise<void> {
    await this.#nodes[0]!.node.gatekeeper.definitions.edit(SEMAPHORE, { permits });
  }

  async pause(isPaused: boolean): Promise<void> {
    const { definitions } = this.#nodes[1]!.node.gatekeeper;
    await (isPaused ? definitions.pause(SEMAPHORE) : definitions.resume(SEMAPHORE));
  }

  async tick(by: number): Promise<void> {
    await this.#cluster.time.advance(by);
  }

  /** The old process does nothing any more, and gives nothing back. */
  async crash(place: number): Promise<void> {
    this.#nodes[place] = await this.#boot();
  }

  isHeld(place: number): boolean {
    return this.#held(place) !== undefined;
  }

  /** As every node sees it. */
  async taken(): Promise<{ slot: number; token: number }[]> {
    const { permits } = (await this.#cluster.record()) as unknown as { permits: Permit[] };
    const now = this.#cluster.time.cluster();
    return permits
      .filter(({ expiresAt }) => now < expiresAt + TOLERANCE)
      .map(({ slot, token }) => ({ slot, token }))
      .toSorted((one, other) => one.slot - other.slot);
  }

  get now(): number {
    return this.#cluster.time.cluster() - START;
  }

  close(): Promise<void> {
    return this.#cluster.close();
  }

  #held(place: number): Permit | undefined {
    return this.#nodes[place]!.uses.find((permit) => permit.isHeld);
  }

  async #boot(): Promise<{ node: TestNode; uses: Permit[] }> {
    const definitions = [{ name: SEMAPHORE, duration: DURATION }];
    return { node: await this.#cluster.node({ definitions, clockTolerance: TOLERANCE }), uses: [] };
  }
}
