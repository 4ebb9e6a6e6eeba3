import type { FlakeIdGenerator } from 'hazelcast-client';
import {
  ClockPrefetchError,
  type FlakeId,
  FlakeIdClock,
  readingOf,
} from '../../../lib/stores/hazelcast/flake-id-clock.js';

const EPOCH = 1_514_764_800_000n;

/** A Long, as far as it is looked at. */
function idOf(time: bigint, member: bigint, sequence = 0n): FlakeId {
  const id = ((time - EPOCH) << 22n) | (sequence << 16n) | member;
  return {
    getLowBits: () => Number(BigInt.asIntN(32, id)),
    shiftRightUnsigned: (bits) => ({ toNumber: () => Number(id >> BigInt(bits)) }),
  };
}

/** A generator that answers with these ids, one after the other, and then with the host's time. */
function generatorOf(...ids: FlakeId[]) {
  let asked = 0;
  const newId = async () => ids[asked++] ?? idOf(BigInt(Date.now()), 1n);
  return { generator: { newId, getName: () => 'clock' } as unknown as FlakeIdGenerator, asked: () => asked };
}

describe('An id', () => {
  it.each([
    [1_800_000_000_123n, 0n, 0n],
    [1_800_000_000_123n, 65_535n, 63n],
    [1_514_764_800_000n, 32_768n, 1n],
    [3_713_788_055_551n, 65_535n, 63n],
  ])('tells the time %i and the member %i', (time, member, sequence) => {
    expect(readingOf(idOf(time, member, sequence))).toEqual({ time: Number(time), member: String(member) });
  });
});

/** A clock over generators by their names, in the order in which they are asked for. */
function clockOver(isTrusted: boolean, ...generators: FlakeIdGenerator[]) {
  const names: string[] = [];
  const open = async (name: string) => generators[names.push(name) - 1]!;
  return { names, clock: new FlakeIdClock(open, { name: 'clock', isTrusted, patience: 30 }) };
}

describe('The clock of a member', () => {
  const now = BigInt(Date.now());

  it('is read with one id each time when its generator is trusted', async () => {
    const { generator, asked } = generatorOf(idOf(now, 1n), idOf(now, 1n));
    const { clock } = clockOver(true, generator);
    expect(await clock.read()).toEqual({ time: Number(now), member: '1' });
    expect(await clock.read()).toEqual({ time: Number(now), member: '1' });
    expect(asked()).toBe(2);
  });

  it('is refused while its ids come from one batch, and believed once they do not', async () => {
    const { generator } = generatorOf(idOf(now, 1n, 0n), idOf(now, 1n, 1n));
    const { clock } = clockOver(false, generator);
    await expect(clock.read()).rejects.toThrow(ClockPrefetchError);
    await expect(clock.read()).resolves.toMatchObject({ member: '1' });
  });

  it('is believed when two members answered, though the clocks of both differ', async () => {
    const { generator } = generatorOf(idOf(now, 1n), idOf(now - 30n, 2n), idOf(now, 1n));
    await expect(clockOver(false, generator).clock.read()).resolves.toEqual({ time: Number(now), member: '1' });
  });

  it('is proven once', async () => {
    const { generator, asked } = generatorOf();
    const { clock } = clockOver(false, generator);
    await clock.read();
    expect(asked()).toBe(3);
    await clock.read();
    expect(asked()).toBe(4);
  });

  it('is read from a generator of another name once one does not answer', async () => {
    const silent = { newId: () => new Promise(() => undefined) } as unknown as FlakeIdGenerator;
    const { generator } = generatorOf(idOf(now, 2n));
    const { clock, names } = clockOver(true, silent, generator);
    const waiting = [clock.read(), clock.read()];
    for (const reading of waiting)
      await expect(reading).rejects.toThrow('No member answered with its time within 30 ms');
    expect(await clock.read()).toEqual({ time: Number(now), member: '2' });
    expect(names).toEqual(['clock', 'clock.1']);
  });

  it('is read again when a generator could not be had: the member that was asked for it went', async () => {
    const { generator } = generatorOf(idOf(now, 2n));
    const closed = new Error('the connection was closed');
    let asked = 0;
    const open = async () => {
      if (++asked === 1) throw closed;
      return generator;
    };
    const clock = new FlakeIdClock(open, { name: 'clock', isTrusted: true, patience: 30 });
    await expect(clock.read()).rejects.toBe(closed);
    expect(await clock.read()).toEqual({ time: Number(now), member: '2' });
  });

  it('is proven anew for each generator', async () => {
    const silent = { newId: () => new Promise(() => undefined) } as unknown as FlakeIdGenerator;
    const { generator } = generatorOf(idOf(now, 1n, 0n), idOf(now, 1n, 1n));
    const { clock } = clockOver(false, silent, generator);
    await expect(clock.read()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(clock.read()).rejects.toThrow(ClockPrefetchError);
  });
});
