import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { type Gatekeeper, GatekeeperService } from '../gatekeeper/index.js';
import { InvalidOptionsError } from '../semaphores/index.js';
import { CLUSTER_SINGLETON } from './cluster-singleton.constants.js';
import { NOT_STATIC } from './cluster-singleton.messages.js';
import type { ClusterSingletonMetadata } from './cluster-singleton.metadata.js';
import type { GuardedMethod } from './guarded-method.js';
import { checkGuardedMethods } from './guarded-methods.check.js';

/**
 * Lists the guarded methods when the application boots, and fails with one error that names every fault. It wraps
 * nothing: the decorator does, so that the order of modules doesn't matter.
 */
@Injectable()
export class GuardedMethodsExplorer implements OnModuleInit {
  readonly #logger = new Logger('Gatekeeper');
  #methods: readonly GuardedMethod[] = [];

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
  onModuleInit(): void {
    this.#methods = [...this.discovery.getControllers(), ...this.discovery.getProviders()].flatMap((wrapper) =>
      this.#guardedMethods(wrapper),
    );
    const { faults, definitions } = checkGuardedMethods(this.#methods, this.gatekeeper.definitions.rules);
    if (faults.length > 0) throw new InvalidOptionsError('@ClusterSingleton', faults);
    for (const definition of definitions) this.gatekeeper.definitions.expect(definition);
    for (const { method, isStatic } of this.#methods) if (!isStatic) this.#logger.warn(NOT_STATIC(method));
  }

  #guardedMethods(wrapper: InstanceWrapper): GuardedMethod[] {
    const prototype = (wrapper.metatype as { prototype?: object } | null)?.prototype ?? prototypeOf(wrapper.instance);
    if (!prototype) return [];
    return this.scanner.getAllMethodNames(prototype).flatMap((name) => {
      const method = Object.getOwnPropertyDescriptor(ownerOf(prototype, name), name)?.value as object;
      const metadata = Reflect.getMetadata(CLUSTER_SINGLETON, method) as ClusterSingletonMetadata | undefined;
      return metadata
        ? [{ method: `${wrapper.name}.${name}`, metadata, isStatic: wrapper.isDependencyTreeStatic() }]
        : [];
    });
  }
}

function prototypeOf(instance: unknown): object | undefined {
  return typeof instance === 'object' && instance !== null ? (Object.getPrototypeOf(instance) as object) : undefined;
}

/** Looks without touching getters of the instance. */
function ownerOf(prototype: object, name: string): object {
  let owner = prototype;
  while (!Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner) as object;
  return owner;
}
