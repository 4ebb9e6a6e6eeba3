import { ClusterClock } from '../../../lib/core/clock/index.js';
import type { ClockReading } from '../../../lib/core/store/index.js';
import { START, type FakeTime } from '../../support/fake-time.js';

export const TOLERANCE = 500;

/** A cluster whose members answer in turn; each has a clock of its own. */
export class Members {
  /** ms that each member's clock is off; a member that is taken out answers no more. */
  readonly off = new Map<string, number>();
  /** ms from request to answer, half of it each way. */
  roundTrip = 0;
  /** Set: the store can't be asked. */
  failure?: Error;
  readings = 0;
  /** How many turns others have after each of ours. */
  passedOver = 0;
  /** How many the store sees, if not all. */
  seen?: number | undefined;
  #left = Infinity;

  constructor(
    private readonly time: FakeTime,
    off: Record<string, number>,
  ) {
    for (const [member, by] of Object.entries(off)) this.off.set(member, by);
  }

  /** The next readings come back, one is lost, and then all is well again. */
  failsAfter(readings: number): void {
    this.#left = readings;
  }

  read = async (): Promise<ClockReading> => {
    if (this.failure) throw this.failure;
    const names = [...this.off.keys()];
    const member = names[(this.readings++ * (1 + this.passedOver)) % names.length]!;
    if (this.#left-- === 0) throw new Error('lost');
    this.time.freeze(this.roundTrip / 2);
    const reading = { time: Math.floor(this.time.cluster() + this.off.get(member)!), member };
    this.time.freeze(this.roundTrip / 2);
    return reading;
  };
}

/** A clock over members, and the reasons for suspicion that it told of. */
export function clockOver(time: FakeTime, members: Members, options: { strictStart?: boolean } = {}) {
  const reasons: string[] = [];
  const clock = new ClusterClock({ now: () => members.read(), members: () => members.seen ?? members.off.size }, time, {
    tolerance: TOLERANCE,
    ...options,
    onSuspect: (reason) => reasons.push(reason),
  });
  /** Cluster time since the start, in ms: the least and the most that it can be. */
  const passed = () => [clock.earliest() - START, clock.latest() - START];
  return { clock, reasons, passed };
}
