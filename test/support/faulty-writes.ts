import { StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import type { TestNode } from './nodes.js';

/** The ways in which a write fails, each with whether it is applied, and whether the store stays away. */
const FAULTS = {
  'was refused': { isApplied: false, staysAway: false },
  'was refused, as all calls after it': { isApplied: false, staysAway: true },
  'was applied, and its answer was lost': { isApplied: true, staysAway: false },
  'was applied, its answer was lost, and all calls after it failed': { isApplied: true, staysAway: true },
} as const;

export type WriteFault = keyof typeof FAULTS;

/** Each kind of fault at each of the first writes: rows of a table of tests. */
export function faultsOfWrites(writes: number): [number, WriteFault][] {
  const kinds = Object.keys(FAULTS) as WriteFault[];
  return kinds.flatMap((fault) =>
    Array.from({ length: writes }, (_, index) => [index + 1, fault] as [number, WriteFault]),
  );
}

export interface FaultyWrites {
  /** Whether the write with the fault has come. */
  readonly hasFailed: boolean;
  /** The store works again. */
  mend(): void;
}

/**
 * Lets the n-th write of a node from now on fail: a compare-and-set, or an addition to a journal.
 *
 * @param counted only compare-and-sets of keys that match it count; default: all writes
 */
export function failWrite({ store }: TestNode, write: number, fault: WriteFault, counted?: RegExp): FaultyWrites {
  const { isApplied, staysAway } = FAULTS[fault];
  let count = 0;
  const isCounted = (key = '') => counted?.test(key) ?? true;
  store.script = async (call, go, key) => {
    if (staysAway && count >= write) throw new StoreUnavailableError('away');
    const isWrite = call === 'compareAndSet' || call === 'append';
    if (!isWrite || !isCounted(key) || ++count !== write) return go();
    if (!isApplied) throw new StoreUnavailableError('refused');
    await go();
    throw new UnknownOutcomeError('no answer');
  };
  return {
    get hasFailed() {
      return count >= write;
    },
    mend: () => void (store.script = undefined),
  };
}

/** The value, or undefined if the call failed because the store gave no clear answer. */
export async function toldOutage<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof StoreUnavailableError || error instanceof UnknownOutcomeError) return undefined;
    throw error;
  }
}
