import fc from 'fast-check';
import { Gatekeeper, type Permit, type Driver, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { FEW_SHARDS, bear } from '../support/born.js';
import { START, interleaved, stillClock } from './interleaved-store.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { runs } from '../support/runs.js';

const SEMAPHORE = 'job';
const silent = { log() {}, warn() {}, error() {}, debug() {} };

type Move = 'acquire' | 'refresh' | 'release';
const moves = fc.array(fc.constantFrom<Move>('acquire', 'refresh', 'release'), { minLength: 1, maxLength: 4 });

/** Nodes over one store, and those of their permits that are held now. */
class Nodes {
  readonly held = new Map<string, number>();
  /** The most that were ever held at the same time. */
  most = 0;
  readonly tokens: number[] = [];
  readonly #gatekeepers: Gatekeeper[];
  readonly #raw: Driver;

  constructor(scheduler: fc.Scheduler, count: number, permits: number) {
    const { raw, ...store } = interleaved(scheduler);
    this.#raw = raw;
    const definitions = [{ name: SEMAPHORE, permits, duration: 10_000 }];
    const settings = parseGatekeeperOptions({ store, definitions, callTimeout: 60_000, heartbeat: 0, history: false });
    this.#gatekeepers = Array.from({ length: count }, (_, node) => {
      let ids = 0;
      const random = { number: () => 0, id: () => `${node}.${ids++}`, instance: () => `node-${node}` };
      return new Gatekeeper(settings, silent, { nodeClock: stillClock, random, shards: FEW_SHARDS });
    });
  }

  async start(): Promise<void> {
    await bear(this.#raw, START);
    await Promise.all(this.#gatekeepers.map((gatekeeper) => gatekeeper.start()));
    await Promise.all(this.#gatekeepers.map((gatekeeper) => partsOf(gatekeeper).directory.declared.load()));
  }

  async play(node: number, todo: readonly Move[]): Promise<void> {
    const gatekeeper = this.#gatekeepers[node]!;
    let permit: Permit | undefined;
    for (const move of todo) {
      if (move === 'acquire' && !permit) permit = this.#got(await gatekeeper.tryAcquire(SEMAPHORE));
      else if (move === 'refresh' && permit) expect(await gatekeeper.refresh(permit)).toBe(true);
      else if (move === 'release' && permit) permit = await this.#release(permit);
    }
    if (permit) expect(permit.isHeld).toBe(true);
  }

  /** Holders when all is done. */
  async record(): Promise<string[]> {
    const { holders } = (await this.#gatekeepers[0]!.state()).semaphores[0]!;
    return holders.map(({ id }) => id).toSorted();
  }

  #got(permit: Permit | undefined): Permit | undefined {
    if (!permit) return undefined;
    this.held.set(permit.id, permit.slot);
    this.tokens.push(permit.token);
    this.most = Math.max(this.most, this.held.size);
    return permit;
  }

  async #release(permit: Permit): Promise<undefined> {
    this.held.delete(permit.id);
    await permit.release();
  }
}

describe('however the calls of several nodes interleave', () => {
  it('no more than `permits` are held, tokens never repeat, and the record agrees with the holders', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(moves, { minLength: 2, maxLength: 4 }),
        fc.integer({ min: 1, max: 2 }),
        async (scheduler, todo, permits) => {
          const nodes = new Nodes(scheduler, todo.length, permits);
          await scheduler.waitFor(nodes.start());
          await scheduler.waitFor(Promise.all(todo.map((each, node) => nodes.play(node, each))));
          expect(nodes.most).toBeLessThanOrEqual(permits);
          expect(new Set(nodes.held.values()).size).toBe(nodes.held.size);
          expect(new Set(nodes.tokens).size).toBe(nodes.tokens.length);
          expect(await nodes.record()).toEqual([...nodes.held.keys()].toSorted());
        },
      ),
      { numRuns: runs(100), seed: 20_261_121 },
    );
  });

  it('each permit is granted at the first try, for every order of the calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 3 }), async (scheduler, permits) => {
        const nodes = new Nodes(scheduler, 4, permits);
        await scheduler.waitFor(nodes.start());
        await scheduler.waitFor(Promise.all([0, 1, 2, 3].map((node) => nodes.play(node, ['acquire']))));
        expect(nodes.held.size).toBe(permits);
      }),
      { numRuns: runs(50), seed: 20_261_121 },
    );
  });
});
