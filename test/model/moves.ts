import fc from 'fast-check';
import type { PlainModel } from './plain-model.js';
import type { RealCluster } from './real-cluster.js';

type Move = fc.AsyncCommand<PlainModel, RealCluster>;

/** A move that is always possible, and after which the cluster must look as the model does. */
function move(name: string, play: (model: PlainModel, real: RealCluster) => Promise<void>): Move {
  return {
    check: () => true,
    async run(model, real) {
      await play(model, real);
      expect(await real.taken()).toEqual(model.taken);
      for (const place of model.nodes.keys()) {
        const isHeld = (model.leaseOf(place)?.uses ?? 0) > 0;
        expect([place, real.isHeld(place)]).toEqual([place, isHeld]);
      }
    },
    toString: () => name,
  };
}

async function pass(by: number, model: PlainModel, real: RealCluster): Promise<void> {
  model.now += by;
  await real.tick(by);
}

/**
 * A move after 1 ms. Of two refreshes in one ms, the second ends 1 ms later for nodes that saw the first one, and the
 * plain list does not know who saw it.
 */
const later = (name: string, play: Parameters<typeof move>[1]) =>
  move(name, async (model, real) => {
    await pass(1, model, real);
    await play(model, real);
  });

const acquire = (place: number) =>
  later(`node ${place} acquires`, async (model, real) => {
    const outcome = model.acquire(place);
    const permit = await real.acquire(place);
    const { slot, token } = model.leaseOf(place) ?? {};
    expect(permit && { slot: permit.slot, token: permit.token }).toEqual(
      outcome === 'denied' ? undefined : { slot, token },
    );
  });

const refresh = (place: number) =>
  later(`node ${place} refreshes`, async (model, real) => {
    const expected = model.refresh(place);
    expect(await real.refresh(place)).toBe(expected);
  });

const release = (place: number) =>
  move(`node ${place} releases`, async (model, real) => {
    model.release(place);
    await real.release(place);
  });

const run = (place: number, hold: boolean) =>
  later(`node ${place} runs${hold ? ' and holds' : ''}`, async (model, real) => {
    const isDenied = model.acquire(place) === 'denied';
    const token = isDenied ? undefined : model.leaseOf(place)!.token;
    if (!isDenied) model.release(place, hold);
    expect(await real.run(place, hold)).toBe(token);
  });

const tick = (by: number) => move(`${by} ms pass`, (model, real) => pass(by, model, real));

const edit = (permits: number) =>
  move(`edit to ${permits} permits`, async (model, real) => {
    model.permits = permits;
    await real.edit(permits);
  });

const pause = (isPaused: boolean) =>
  move(isPaused ? 'pause' : 'resume', async (model, real) => {
    model.isPaused = isPaused;
    await real.pause(isPaused);
  });

const crash = (place: number) =>
  move(`node ${place} crashes`, async (model, real) => {
    model.crash(place);
    await real.crash(place);
  });

const place = fc.nat(2);

export const moves = fc.commands(
  [
    place.map(acquire),
    place.map(refresh),
    place.map(release),
    fc.tuple(place, fc.boolean()).map(([where, hold]) => run(where, hold)),
    fc.oneof(fc.integer({ min: 1, max: 12_000 }), fc.constantFrom(1, 9499, 9500, 10_499, 10_500)).map(tick),
    fc.nat(3).map(edit),
    fc.oneof(fc.constant(true), { arbitrary: fc.constant(false), weight: 2 }).map(pause),
    place.map(crash),
  ],
  { maxCommands: 40, size: 'max' },
);
