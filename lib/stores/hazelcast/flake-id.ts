import type { ClockReading } from '../store.js';

/** 2018-01-01, from which Hazelcast counts (`epoch-start` of a flake-id-generator, here left at its default). */
const EPOCH = 1_514_764_800_000;
const SEQUENCE_BITS = 6;
const MEMBER_BITS = 16;

/** The part of `Long` that is needed, so that nothing depends on the copy of `long` that the client uses. */
export interface FlakeId {
  getLowBits(): number;
  shiftRightUnsigned(bits: number): { toNumber(): number };
}

/**
 * The time and the member that an id carries: 41 bits of ms since {@link EPOCH}, 6 of a sequence, 16 of the member's id.
 *
 * @see https://docs.hazelcast.com/hazelcast/latest/data-structures/flake-id-generator
 */
export function readingOf(id: FlakeId): ClockReading {
  return {
    time: id.shiftRightUnsigned(SEQUENCE_BITS + MEMBER_BITS).toNumber() + EPOCH,
    member: String(id.getLowBits() & (2 ** MEMBER_BITS - 1)),
  };
}
