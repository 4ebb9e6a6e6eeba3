import { type NodeClock, systemClock } from '../async/node-clock.js';
import type { GatekeeperEvent, JobInfo, JobSchedule } from '../gatekeeper/index.js';
import { type Registry, jobOf } from './cron-jobs.js';
import { CronTimes } from './cron-times.js';
import type { GuardedMethod } from './guarded-method.js';
import type { ScheduleMetadata } from './schedule-metadata.js';

/** ms by which timers may be early, held against a wall clock of whole ms. */
const EARLY = 1;

/** The jobs that this node schedules, and when they run. */
export class JobInfos {
  readonly #crons = new Map<string, CronTimes>();
  /** By the wall clock, in ms: when each interval or timeout came last, whether its job ran or was skipped. */
  readonly #calls = new Map<string, number | undefined>();
  /** The scheduler starts its timers after this. */
  readonly #madeAt: number;
  #bootedAt?: number;

  /** @param registry without one @nestjs/schedule runs nothing here */
  constructor(
    private readonly methods: readonly GuardedMethod[],
    private readonly registry: Registry | undefined,
    private readonly nodeClock: NodeClock = systemClock,
  ) {
    this.#madeAt = nodeClock.wall();
    for (const { method, schedule } of methods) {
      if (schedule?.kind === 'cron') this.#crons.set(method, new CronTimes());
      else if (schedule) this.#calls.set(method, undefined);
    }
  }

  /** From now on the scheduler runs. */
  booted(): void {
    this.#bootedAt = this.nodeClock.wall();
  }

  /** Notes when intervals and timeouts come: the scheduler does not say. */
  observe(event: GatekeeperEvent): void {
    if (event.type !== 'run-started' && event.type !== 'run-skipped') return;
    if (this.#calls.has(event.job)) this.#calls.set(event.job, this.nodeClock.wall());
  }

  get all(): JobInfo[] {
    return this.methods.map((guarded) => {
      const { method: job, metadata } = guarded;
      const semaphore = typeof metadata.semaphore === 'string' ? metadata.semaphore : undefined;
      const schedule = this.#scheduleOf(guarded);
      return { job, ...(semaphore !== undefined && { semaphore }), ...(schedule && { schedule }) };
    });
  }

  /** Nothing of what @nestjs/schedule does not run: of a provider that is not static, or switched off by its options. */
  #scheduleOf({ method, schedule, isStatic }: GuardedMethod): JobSchedule | undefined {
    if (!schedule || !isStatic || !this.registry) return undefined;
    const { kind, expression } = schedule;
    // Before that nothing is registered yet.
    if (this.#bootedAt === undefined) return { kind, expression };
    const times = this.#timesOf(method, schedule, this.registry);
    return times && { kind, expression, ...times };
  }

  #timesOf(method: string, schedule: ScheduleMetadata, registry: Registry): Partial<JobSchedule> | undefined {
    switch (schedule.kind) {
      case 'cron': {
        const job = jobOf(schedule, registry);
        return job && this.#crons.get(method)!.look(job, this.nodeClock.wall());
      }
      case 'interval':
        return registry.getIntervals().length > 0
          ? this.#intervalTimes(method, Number(schedule.expression))
          : undefined;
      default:
        return registry.getTimeouts().length > 0 ? this.#timeoutTimes(method, Number(schedule.expression)) : undefined;
    }
  }

  #intervalTimes(method: string, interval: number): Partial<JobSchedule> {
    const last = this.#calls.get(method) ?? this.#bootedAt!;
    return { next: Math.round(last + interval), interval: Math.round(interval) };
  }

  #timeoutTimes(method: string, delay: number): Partial<JobSchedule> {
    const next = Math.round(this.#bootedAt! + delay);
    // Its timer may have started before this node had booted: it came already, unless the application called the method earlier.
    const came = (this.#calls.get(method) ?? -Infinity) >= this.#madeAt + delay - EARLY;
    return came || next <= this.nodeClock.wall() ? {} : { next };
  }
}
