import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { type Gatekeeper, isReal, partsOf } from '../gatekeeper/index.js';
import { GatekeeperService } from './gatekeeper.service.js';
import { InvalidOptionsError } from '../decision/index.js';
import { CLUSTER_SINGLETON, GATEKEEPER_PROPERTY } from './cluster-singleton.constants.js';
import { NOT_STATIC } from './cluster-singleton.messages.js';
import type { ClusterSingletonMetadata } from './cluster-singleton.metadata.js';
import { findRegistry } from './cron-jobs.js';
import type { GuardedMethod } from './guarded-method.js';
import { checkGuardedMethods } from './guarded-methods.check.js';
import { guardWith } from './guarded-run.js';
import { scheduleOf } from './schedule-metadata.js';
import { JobInfos } from './job-infos.js';

/**
 * Lists the guarded methods when the application boots, and fails with one error that names every fault. It wraps
 * no methods: the decorator does, so the order of modules does not matter.
 */
@Injectable()
export class GuardedMethodsExplorer implements OnModuleInit, OnApplicationBootstrap {
  readonly #logger = new Logger('Gatekeeper');
  #methods: readonly GuardedMethod[] = [];
  #cards?: JobInfos;

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(MetadataScanner) private readonly scanner: MetadataScanner,
    @Inject(GatekeeperService) private readonly gatekeeper: Gatekeeper,
  ) {}

  /** All guarded methods of the application. */
  get methods(): readonly GuardedMethod[] {
    return this.#methods;
  }

  /** @throws InvalidOptionsError listing every fault of every guarded method */
  async onModuleInit(): Promise<void> {
    const wrappers = [...this.discovery.getControllers(), ...this.discovery.getProviders()];
    this.#methods = withoutAliases(wrappers.flatMap((wrapper) => this.#guardedMethods(wrapper)));
    // A mocked gatekeeper has no rules to check and nothing to announce.
    if (!isReal(this.gatekeeper)) return;
    const { declared } = partsOf(this.gatekeeper).directory;
    const { faults, definitions } = checkGuardedMethods(this.#methods, declared.rules);
    if (faults.length > 0) throw new InvalidOptionsError('@ClusterSingleton', faults);
    this.#announceJobs();
    for (const { method, isStatic } of this.#methods) if (!isStatic) this.#logger.warn(NOT_STATIC(method));
    await declared.registerAll(definitions);
  }

  /** The scheduler also starts in this phase. */
  onApplicationBootstrap(): void {
    this.#cards?.booted();
  }

  /** Publishes this node's scheduled jobs to the other nodes. */
  #announceJobs(): void {
    const cards = new JobInfos(this.#methods, findRegistry(this.discovery));
    this.#cards = cards;
    this.gatekeeper.registry.jobs = () => cards.all;
    if (this.#methods.some(({ schedule }) => schedule && schedule.kind !== 'cron')) {
      this.gatekeeper.events$.subscribe((event) => cards.observe(event));
    }
  }

  #guardedMethods(wrapper: InstanceWrapper): GuardedMethod[] {
    // From the instance first: the metatype of a factory provider is its factory.
    const prototype = prototypeOf(wrapper.instance) ?? (wrapper.metatype as { prototype?: object } | null)?.prototype;
    if (!prototype) return [];
    // A transient provider has only an empty prototype here, on which nothing may run.
    const isStatic = wrapper.isDependencyTreeStatic() && !wrapper.isTransient;
    const methods = this.scanner.getAllMethodNames(prototype).flatMap((name) => {
      const found = metadataOf(prototype, name);
      // Named after the class: the token of a provider may be a symbol, or another name for the same instance.
      return found ? [{ method: `${prototype.constructor.name}.${name}`, isStatic, ...found }] : [];
    });
    if (isStatic && methods.length > 0) giveIfWithout(wrapper.instance as object, this.gatekeeper);
    return methods;
  }
}

function prototypeOf(instance: unknown): object | undefined {
  return typeof instance === 'object' && instance !== null ? (Object.getPrototypeOf(instance) as object) : undefined;
}

function metadataOf(prototype: object, name: string): Pick<GuardedMethod, 'metadata' | 'schedule'> | undefined {
  const method = Object.getOwnPropertyDescriptor(ownerOf(prototype, name), name)?.value as object;
  const metadata = Reflect.getMetadata(CLUSTER_SINGLETON, method) as ClusterSingletonMetadata | undefined;
  const schedule = metadata && scheduleOf(method);
  return metadata && { metadata, ...(schedule && { schedule }) };
}

/** Nest injects properties only if it calls the constructor itself, not into factory results and values. */
function giveIfWithout(instance: object, gatekeeper: Gatekeeper): void {
  if (!(GATEKEEPER_PROPERTY in instance)) guardWith(instance, gatekeeper);
}

/** Two tokens of one class (useExisting) show the same methods. */
function withoutAliases(methods: readonly GuardedMethod[]): GuardedMethod[] {
  return methods.filter(
    ({ method, metadata }, index) =>
      methods.findIndex((other) => other.method === method && other.metadata === metadata) === index,
  );
}

/** Finds methods without calling getters of the instance. */
function ownerOf(prototype: object, name: string): object {
  let owner = prototype;
  while (!Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner) as object;
  return owner;
}
