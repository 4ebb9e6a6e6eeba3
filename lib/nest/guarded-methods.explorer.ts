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
 * Finds and checks the guarded methods when the application boots. It does not wrap them: the decorator does, so the
 * order of modules does not matter.
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

  /** All guarded methods of the application; empty before the boot. */
  get methods(): readonly GuardedMethod[] {
    return this.#methods;
  }

  /** @throws InvalidOptionsError that lists every fault of every guarded method */
  async onModuleInit(): Promise<void> {
    const wrappers = [...this.discovery.getControllers(), ...this.discovery.getProviders()];
    this.#methods = withoutAliases(wrappers.flatMap((wrapper) => this.#guardedMethods(wrapper)));
    // A mock or a test's stand-in has no rules to check and publishes nothing.
    if (!isReal(this.gatekeeper)) return;
    const { declared } = partsOf(this.gatekeeper).directory;
    const { faults, definitions } = checkGuardedMethods(this.#methods, declared.rules);
    if (faults.length > 0) throw new InvalidOptionsError('@ClusterSingleton', faults);
    this.#announceJobs();
    for (const { method, isStatic } of this.#methods) if (!isStatic) this.#logger.warn(NOT_STATIC(method));
    await declared.registerAll(definitions);
  }

  /** The scheduler of @nestjs/schedule starts in the same phase. */
  onApplicationBootstrap(): void {
    this.#cards?.booted();
  }

  /** Publishes the guarded methods and their schedules to the other nodes. */
  #announceJobs(): void {
    const cards = new JobInfos(this.#methods, findRegistry(this.discovery));
    this.#cards = cards;
    this.gatekeeper.registry.jobs = () => cards.all;
    if (this.#methods.some(({ schedule }) => schedule && schedule.kind !== 'cron')) {
      this.gatekeeper.events$.subscribe((event) => cards.observe(event));
    }
  }

  #guardedMethods(wrapper: InstanceWrapper): GuardedMethod[] {
    // The instance comes first, because the metatype of a factory provider is the factory.
    const prototype = prototypeOf(wrapper.instance) ?? (wrapper.metatype as { prototype?: object } | null)?.prototype;
    if (!prototype) return [];
    // A transient provider has only an empty object here as its instance. No method may run on that.
    const isStatic = wrapper.isDependencyTreeStatic() && !wrapper.isTransient;
    const methods = this.scanner.getAllMethodNames(prototype).flatMap((name) => {
      const found = metadataOf(prototype, name);
      // The name comes from the class, because a provider's token may be a symbol or another name for the same
      // instance.
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

/** Nest does not inject properties into the results of factories and into values, so this sets the property there. */
function giveIfWithout(instance: object, gatekeeper: Gatekeeper): void {
  if (!(GATEKEEPER_PROPERTY in instance)) guardWith(instance, gatekeeper);
}

/** Removes duplicates: two tokens of one instance (useExisting) lead to the same methods. */
function withoutAliases(methods: readonly GuardedMethod[]): GuardedMethod[] {
  return methods.filter(
    ({ method, metadata }, index) =>
      methods.findIndex((other) => other.method === method && other.metadata === metadata) === index,
  );
}

/** Finds the prototype that has a method. Reads no property, because that could call a getter. */
function ownerOf(prototype: object, name: string): object {
  let owner = prototype;
  while (!Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner) as object;
  return owner;
}
