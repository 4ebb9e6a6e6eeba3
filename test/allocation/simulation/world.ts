import { Chance } from '../../simulation/world/chance.js';
import { VirtualTime } from '../../simulation/world/virtual-time.js';

/** ms of a membership lease at most, and by which clocks may differ. */
export const LEASE = 6000;
export const TOLERANCE = 500;
/** Heartbeats in one lease. */
export const BEATS = 3;
export const HEARTBEAT = LEASE / BEATS;
const CALL_TIMEOUT = 1000;
/** Cluster time at the start. */
const EPOCH = 1_800_000_000_000;

export const FAULTS = [
  'crash',
  'freeze',
  'cut',
  'lossy',
  'late',
  'slow',
  'clock',
  'lostData',
  'leave',
  'resources',
  'longCallback',
  'orders',
] as const;
/** A store that puts back old texts breaks the assumption of every promise, so it is a fault of its own. */
export type Fault = (typeof FAULTS)[number] | 'rollback';

/** A process as the world sees it. */
export interface Machine {
  isStopped: boolean;
  /** True time until which it does not run. */
  frozenUntil: number;
  /** Its calls get lost, or only their answers. */
  cut: 'none' | 'calls' | 'answers';
  wake(): void;
}

/** `undefined`: the outcome is unknown. */
export type Answer<T> = { readonly value: T } | undefined;

/** True time, the members' clocks and a store of texts that loses calls, answers and data. */
export class World {
  readonly time = new VirtualTime();
  readonly store = new Map<string, string>();
  readonly machines: Machine[] = [];
  readonly memberClocks: number[];
  isTrouble = false;
  /** Decides which nodes have a shorter lease; absent: none. */
  readonly #leases: Chance | undefined;
  #ids = 0;

  constructor(
    readonly chance: Chance,
    readonly faults: ReadonlySet<Fault>,
  ) {
    const leases = chance.beside();
    this.#leases = leases.happens(0.4) ? leases : undefined;
    this.memberClocks = [0, 0, 0].map(() => chance.between(-TOLERANCE / 6, TOLERANCE / 6));
  }

  has(fault: Fault): boolean {
    return this.isTrouble && this.faults.has(fault);
  }

  /** ms of the membership lease of the next node. */
  nextLease(): number {
    return this.#leases?.happens(0.5) ? LEASE / 2 : LEASE;
  }

  id(): string {
    return `id${(this.#ids++).toString(36)}`;
  }

  /** Upper bound of cluster time. */
  latest(): number {
    return Math.floor(EPOCH + this.time.now + Math.max(...this.memberClocks));
  }

  /** Lower bound of cluster time. */
  earliest(): number {
    return Math.floor(EPOCH + this.time.now + Math.min(...this.memberClocks));
  }

  /** Something that a machine does: later if it is frozen, never if it is dead. */
  on(machine: Machine, delay: number, action: () => void): void {
    const attempt = () => {
      if (machine.isStopped) return;
      const frozen = machine.frozenUntil - this.time.now;
      if (frozen > 0) this.time.after(frozen, attempt);
      else action();
    };
    this.time.after(delay, attempt);
  }

  read(machine: Machine, key: string): Promise<Answer<string | undefined>> {
    return this.#call(machine, false, () => this.store.get(key));
  }

  replace(machine: Machine, key: string, expected: string | undefined, text: string): Promise<Answer<boolean>> {
    return this.#call(machine, true, () => {
      if (this.store.get(key) !== expected) return false;
      this.store.set(key, text);
      return true;
    });
  }

  hint(): void {
    for (const machine of this.machines) {
      if (machine.cut !== 'none' || (this.has('lossy') && this.chance.happens(0.3))) continue;
      this.on(machine, this.chance.between(1, 4), () => machine.wake());
    }
  }

  #call<T>(machine: Machine, isWrite: boolean, act: () => T): Promise<Answer<T>> {
    const { chance } = this;
    return new Promise((resolve) => {
      this.on(machine, CALL_TIMEOUT, () => resolve(undefined));
      const isLost = machine.cut === 'calls' || (this.has('lossy') && chance.happens(0.08));
      if (isLost && !(isWrite && this.has('late') && chance.happens(0.3))) return;
      this.time.after(this.#delay(isWrite), () => {
        const value = act();
        if (machine.cut !== 'none' || (this.has('lossy') && chance.happens(0.08))) return;
        this.on(machine, chance.between(0.5, 2.5), () => resolve({ value }));
      });
    });
  }

  #delay(isWrite: boolean): number {
    const { chance } = this;
    if (isWrite && this.has('late') && chance.happens(0.03)) return chance.between(0, 2.5 * LEASE);
    return chance.between(0.5, 2.5) + (this.has('slow') && chance.happens(0.1) ? chance.between(0, 1500) : 0);
  }
}
