import { type NodeClock, systemClock } from '../core/async/node-clock.js';
import type { GatekeeperEvent, JobInfo, JobSchedule } from '../gatekeeper/index.js';
import { CronTimes } from './cron-times.js';
import type { GuardedMethod } from './guarded-methods.check.js';
import { type Registry, type ScheduleMetadata, isDate, jobOf, zoneOf } from './scheduler.js';

/** ms by which a timer may fire early, as measured with a wall clock of whole ms. */
const EARLY = 1;

/** The guarded methods of this node, with their schedules as far as they are known. */
export class JobInfos {
  readonly #crons = new Map<GuardedMethod, CronTimes>();
  /** Last tick of each interval or timeout, also if the job was skipped: ms by the wall clock. */
  readonly #calls = new Map<string, number | undefined>();
  /** Creation of this object: ms by the wall clock. The scheduler starts its timers later. */
  readonly #madeAt: number;
  #bootedAt?: number;

  /** @param registry undefined if the application does not use @nestjs/schedule */
  constructor(
    private readonly methods: readonly GuardedMethod[],
    private readonly registry: Registry | undefined,
    private readonly nodeClock: NodeClock = systemClock,
  ) {
    this.#madeAt = nodeClock.wall();
    for (const guarded of methods) {
      const { job, schedule } = guarded;
      if (schedule?.kind === 'cron') this.#crons.set(guarded, new CronTimes());
      else if (schedule) this.#calls.set(job, undefined);
    }
  }

  /** Call this when the scheduler starts. */
  booted(): void {
    this.#bootedAt = this.nodeClock.wall();
  }

  /** Records ticks of intervals and timeouts, because the scheduler does not report them. */
  observe(event: GatekeeperEvent): void {
    if (event.type !== 'run-started' && event.type !== 'run-skipped') return;
    if (this.#calls.has(event.job)) this.#calls.set(event.job, this.nodeClock.wall());
  }

  get all(): JobInfo[] {
    return this.methods.map((guarded) => {
      const { job, metadata, runNow } = guarded;
      const { acquirer } = metadata.options;
      const semaphore = typeof metadata.semaphore === 'string' ? metadata.semaphore : undefined;
      const schedule = this.#scheduleOf(guarded);
      return {
        job,
        ...(semaphore !== undefined && { semaphore }),
        ...(schedule && { schedule }),
        ...(runNow && { runNow }),
        ...(acquirer !== undefined && { acquirer }),
      };
    });
  }

  /**
   * Undefined if @nestjs/schedule does not run the method: its provider is not static, or the scheduler is turned off.
   */
  #scheduleOf(guarded: GuardedMethod): JobSchedule | undefined {
    const { schedule, isStatic } = guarded;
    if (!schedule || !isStatic || !this.registry) return undefined;
    const plan = planOf(schedule);
    // The scheduler registers its jobs at the end of the boot.
    if (this.#bootedAt === undefined) return plan;
    const times = this.#timesOf(guarded, schedule, this.registry);
    return times && { ...plan, ...times };
  }

  #timesOf(guarded: GuardedMethod, schedule: ScheduleMetadata, registry: Registry): Partial<JobSchedule> | undefined {
    const { job: name } = guarded;
    switch (schedule.kind) {
      case 'cron': {
        const job = jobOf(schedule, registry);
        return job && this.#crons.get(guarded)!.look(job, this.nodeClock.wall());
      }
      case 'interval':
        return registry.getIntervals().length > 0 ? this.#intervalTimes(name, Number(schedule.expression)) : undefined;
      default:
        return registry.getTimeouts().length > 0 ? this.#timeoutTimes(name, Number(schedule.expression)) : undefined;
    }
  }

  #intervalTimes(job: string, interval: number): Partial<JobSchedule> {
    const last = this.#calls.get(job) ?? this.#bootedAt!;
    return readable({ next: Math.round(last + interval), interval: Math.round(interval) });
  }

  #timeoutTimes(job: string, delay: number): Partial<JobSchedule> {
    const next = Math.round(this.#bootedAt! + delay);
    // The timer may have started before the end of the boot. A call as late as the delay was its tick. An earlier call
    // came from the application.
    const came = (this.#calls.get(job) ?? -Infinity) >= this.#madeAt + delay - EARLY;
    return came || next <= this.nodeClock.wall() ? {} : readable({ next });
  }
}

/**
 * Leaves out times that are no safe, non-negative integers: readers refuse all of a node's entry for one such time. The
 * scheduler accepts any number, also NaN and negative ones.
 */
function readable(times: Partial<JobSchedule>): Partial<JobSchedule> {
  const isReadable = (time: unknown) => Number.isSafeInteger(time) && (time as number) >= 0;
  return Object.fromEntries(Object.entries(times).filter(([, time]) => isReadable(time)));
}

/** A date, and a schedule with an offset, have no time zone. */
function planOf(schedule: ScheduleMetadata): JobSchedule {
  const { kind, expression, utcOffset } = schedule;
  if (kind !== 'cron' || utcOffset !== undefined || isDate(expression)) return { kind, expression };
  return { kind, expression, timeZone: zoneOf(schedule) };
}
