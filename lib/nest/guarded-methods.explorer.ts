import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import {
  type CatchUpJob,
  type Gatekeeper,
  type JobInfo,
  type RunnableJob,
  isReal,
  partsOf,
} from '../gatekeeper/index.js';
import { GatekeeperService } from './gatekeeper.service.js';
import { InvalidOptionsError, LEADER_PREFIX } from '../core/decision/index.js';
import { CLUSTER_SINGLETON, type ClusterSingletonMetadata } from './cluster-singleton.decorator.js';
import { NOT_STATIC, NO_SCHEDULER, SAME_JOB, SEVERAL_GATEKEEPERS, UNSTABLE_JOBS } from './messages.js';
import { unstableName } from './class-names.js';
import { type Ticks, readTicks } from '../core/cron/ticks.js';
import { type DecoratedMethod, DecoratedMethods, distinct } from './decorated-methods.js';
import { calledTwice } from './firings.js';
import { type GuardedMethod, checkGuardedMethods } from './guarded-methods.check.js';
import { GATEKEEPER_PROPERTY, guardWith } from './guarded-call.js';
import { JobInfos } from './job-infos.js';
import { Lifecycle } from './lifecycle.module.js';
import { LEADER_ONLY, type LeaderOnlyMetadata } from './leader-only.decorator.js';
import { type Registry, type ScheduleMetadata, findRegistry, isActive, jobOf, zoneOf } from './scheduler.js';
import { SharedService, classesOf } from './shared-services.js';

type Scopes = readonly string[];

/**
 * Finds and checks the guarded methods when the application boots. It does not wrap them: the decorator does, so the
 * order of modules does not matter.
 */
@Injectable()
@SharedService('GuardedMethodsExplorer')
export class GuardedMethodsExplorer implements OnModuleInit, OnApplicationBootstrap {
  readonly #logger = new Logger('Gatekeeper');
  #methods: readonly GuardedMethod[] = [];
  #cards?: JobInfos;
  #runnable: readonly RunnableJob[] = [];
  #catchUp: readonly CatchUpJob[] = [];

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(DecoratedMethods) private readonly decorated: DecoratedMethods,
    @Inject(GatekeeperService) private readonly gatekeeper: Gatekeeper,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(Lifecycle) lifecycle: Lifecycle,
  ) {
    void lifecycle.afterBoot(() => this.#begin());
  }

  /** All guarded methods of the application; empty before the boot. */
  get methods(): readonly GuardedMethod[] {
    return this.#methods;
  }

  /**
   * @throws InvalidOptionsError for a second GatekeeperModule, for decorators of an incompatible version, or one that lists
   *   every fault of every guarded method
   */
  async onModuleInit(): Promise<void> {
    this.#refuseSeveral();
    this.#refuseOtherFormats();
    const singletons = this.#find<ClusterSingletonMetadata>(CLUSTER_SINGLETON);
    this.#methods = singletons.map((method) => ({ ...method, ...nameOf(method), runNow: runNowOf(method) }));
    const leaders = this.#find<LeaderOnlyMetadata>(LEADER_ONLY);
    // A mock or a test's stand-in has no rules to check and publishes nothing.
    if (!isReal(this.gatekeeper)) return;
    const { directory, cluster } = partsOf(this.gatekeeper);
    const { declared } = directory;
    const { faults, definitions } = checkGuardedMethods(this.#methods, declared.rules);
    if (faults.length > 0) throw new InvalidOptionsError('@ClusterSingleton', faults);
    const jobs = [...this.#methods, ...leaders.map((each) => leadersJob(each, cluster.settings.scopes))];
    const registry = findRegistry(this.discovery);
    this.#announceJobs(jobs, registry);
    if (!registry) this.#warnOfNoScheduler(jobs);
    this.#warnOfUnstableNames(jobs);
    for (const reason of sameJobs(jobs)) this.#logger.warn(reason);
    const all = [CLUSTER_SINGLETON, LEADER_ONLY].flatMap((key) => this.decorated.find<unknown>(key));
    for (const reason of calledTwice(all, this.discovery, this.modules)) this.#logger.warn(reason);
    for (const { method, isStatic } of jobs) if (!isStatic) this.#logger.warn(NOT_STATIC(method));
    this.#runnable = singletons.flatMap(runnableJobs);
    this.#catchUp = singletons.flatMap((found) => catchUpJobs(found, registry));
    await declared.registerAll(definitions);
  }

  /** The scheduler of @nestjs/schedule starts in the same phase. */
  onApplicationBootstrap(): void {
    this.#cards?.booted();
  }

  /** Earlier, parts of the application may be missing. */
  #begin(): void {
    if (!isReal(this.gatekeeper)) return;
    const { runRequestHandler, missedRuns } = partsOf(this.gatekeeper);
    runRequestHandler.serve(this.#runnable);
    missedRuns.serve(this.#catchUp);
  }

  /** With several gatekeepers, all of them would lead and call the methods, and a guarded method would ask any one. */
  #refuseSeveral(): void {
    const classes = classesOf('GatekeeperService');
    const wrappers = this.discovery.getProviders().filter(({ token }) => classes.has(token as Type));
    const { size } = new Set(wrappers.map(({ instance }) => instance as unknown));
    if (size > 1) throw new InvalidOptionsError('GatekeeperModule', [SEVERAL_GATEKEEPERS(size)]);
  }

  /** Without a word, nothing would call such a method. */
  #refuseOtherFormats(): void {
    const faults = this.decorated.faultsOfOtherFormats();
    if (faults.length > 0) throw new InvalidOptionsError('Decorators', faults);
  }

  /** Publishes the guarded methods and their schedules to the other nodes. */
  #announceJobs(jobs: readonly GuardedMethod[], registry: Registry | undefined): void {
    const cards = new JobInfos(jobs, registry);
    this.#cards = cards;
    this.gatekeeper.registry.jobs = () => cards.all;
    if (jobs.some(({ schedule }) => schedule && schedule.kind !== 'cron')) {
      this.gatekeeper.events$.subscribe((event) => cards.observe(event));
    }
  }

  /** The decorators of @nestjs/schedule alone do nothing, and nothing else would say so. */
  #warnOfNoScheduler(jobs: readonly GuardedMethod[]): void {
    const due = jobs.filter(({ schedule, isStatic }) => isStatic && schedule && !schedule.isDisabled);
    const scheduled = due.map(({ method }) => method);
    if (scheduled.length > 0) this.#logger.warn(NO_SCHEDULER(scheduled));
  }

  #warnOfUnstableNames(jobs: readonly GuardedMethod[]): void {
    for (const kind of ['minified', 'made-up'] as const) {
      const methods = jobs.flatMap(({ method, unstable }) => (unstable === kind ? method : []));
      if (methods.length > 0) this.#logger.warn(UNSTABLE_JOBS(methods, kind));
    }
  }

  #find<M>(key: symbol): DecoratedMethod<M>[] {
    const methods = this.decorated.find<M>(key);
    for (const { instance, isStatic } of methods) if (isStatic && instance) giveIfWithout(instance, this.gatekeeper);
    return distinct(methods);
  }
}

function nameOf(found: DecoratedMethod<{ readonly job?: string }>): Pick<GuardedMethod, 'job' | 'unstable'> {
  const { job } = found.metadata;
  return job === undefined ? { job: found.method, unstable: unstableName(found) } : { job };
}

/** A scheduler passes no arguments, whatever the method declares. */
function runNowOf(method: DecoratedMethod<ClusterSingletonMetadata>): JobInfo['runNow'] {
  const { isStatic, instance, parameters, schedule, metadata } = method;
  if (!isStatic || !instance) return 'not-static';
  if (typeof metadata.semaphore === 'function') return 'arguments';
  return schedule || Math.max(parameters, metadata.parameters) === 0 ? 'yes' : 'arguments';
}

/** The method is looked up at each call: decorators of other packages may replace it when the application boots. */
function runnableJobs(found: DecoratedMethod<ClusterSingletonMetadata>): RunnableJob[] {
  const { semaphore } = found.metadata;
  if (runNowOf(found) !== 'yes' || typeof semaphore !== 'string') return [];
  const instance = found.instance as Record<string, () => unknown>;
  return [{ semaphore, job: nameOf(found).job, call: () => instance[found.property]!() }];
}

function catchUpJobs(found: DecoratedMethod<ClusterSingletonMetadata>, registry: Registry | undefined): CatchUpJob[] {
  const { schedule, metadata } = found;
  if (metadata.missed !== 'once' || !schedule) return [];
  return runnableJobs(found).map((job) => catchUpJob(job, schedule, registry));
}

/** The job for which missed runs are made up. Its method has no fault. */
function catchUpJob(job: RunnableJob, schedule: ScheduleMetadata, registry: Registry | undefined): CatchUpJob {
  const timeZone = zoneOf(schedule);
  const { ticks } = readTicks(schedule.expression, timeZone) as { readonly ticks: Ticks };
  // The scheduler may be off on this node, or the application has stopped the job.
  const isScheduled = () => {
    const found = registry && jobOf(schedule, registry);
    return found !== undefined && isActive(found);
  };
  return { ...job, expression: schedule.expression, timeZone, times: ticks, isScheduled };
}

/** Methods of classes with the same name. Those with the option `job` share a job on purpose. */
function sameJobs(jobs: readonly GuardedMethod[]): string[] {
  const byJob = new Map<string, GuardedMethod[]>();
  for (const method of jobs) {
    const { job, options, semaphore } = method.metadata;
    if (job !== undefined || typeof semaphore !== 'string' || options.overlap === 'allow') continue;
    const key = `${method.job}\n${semaphore}`;
    byJob.set(key, [...(byJob.get(key) ?? []), method]);
  }
  return [...byJob.values()].flatMap(([first, ...others]) =>
    others.length > 0 ? SAME_JOB(first!.method, others.length + 1, String(first!.metadata.semaphore)) : [],
  );
}

/** Gatekeepers that {@link giveIfWithout} gave, by instance. */
const given = new WeakMap<object, Gatekeeper>();

/**
 * Nest injects properties only if it calls the constructor itself, not into factory results and values. Such an instance
 * may outlive its application. Then it follows the next application that it is part of.
 */
function giveIfWithout(instance: object, gatekeeper: Gatekeeper): void {
  if (GATEKEEPER_PROPERTY in instance && !isLeftOver(instance)) return;
  guardWith(instance, gatekeeper);
  given.set(instance, gatekeeper);
}

/** Whether the instance still has the gatekeeper of an application that has ended, or of a former unit test. */
function isLeftOver(instance: object): boolean {
  const former = given.get(instance);
  if (!former || Reflect.get(instance, GATEKEEPER_PROPERTY) !== former) return false;
  return !isReal(former) || partsOf(former).context.isClosing();
}

/** A method that only the leader runs, as a job under the scope's semaphore. */
function leadersJob(found: DecoratedMethod<LeaderOnlyMetadata>, scopes: Scopes): GuardedMethod {
  const { method, isStatic, schedule, metadata } = found;
  const semaphore = LEADER_PREFIX + (metadata.scope ?? scopes[0]!);
  const unstable = unstableName(found);
  const job = { method, job: method, unstable, isStatic, metadata: { semaphore, options: {}, count: 1 } };
  return { ...job, ...(schedule && { schedule }) };
}
