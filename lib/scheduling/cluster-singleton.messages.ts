import { show } from '../semaphores/index.js';

export const STATIC_METHOD = (method: string) =>
  `@ClusterSingleton can't guard the static method ${method}: make it a method of a provider`;

export const NOT_A_METHOD = (property: string) => `@ClusterSingleton can only guard methods, not ${property}`;

export const TWICE = (method: string) =>
  `${method} has two @ClusterSingleton decorators: guard it by one, and call a method that is guarded by the other`;

export const NO_GATEKEEPER = (method: string) =>
  `${method} is guarded by @ClusterSingleton, but its instance was not made by a Nest application that imports ` +
  `GatekeeperModule: it does not run. Import GatekeeperModule.forRoot({...}), or in a unit test ` +
  `give the instance a gatekeeper with guardWith(instance, gatekeeper)`;

export const BAD_SEMAPHORE = (fault: string) => `the semaphore's name, as its function gives it: ${fault}`;

export const OTHER_DURATION = (
  method: string,
  semaphore: string,
  duration: number,
  other: string,
  otherDuration: number,
) =>
  `${method}: semaphore ${show(semaphore)} gets the duration ${duration} ms here and ${otherDuration} ms at ${other}: ` +
  `give the same one, or list it in GatekeeperModule's definitions`;

export const UNDEFINED = (method: string, semaphore: string) =>
  `${method}: semaphore ${show(semaphore)} is not in GatekeeperModule's definitions, and requireDefinitions is on: add it`;

export const NO_DURATION = (method: string, semaphore: string) =>
  `${method}: semaphore ${show(semaphore)} is not in GatekeeperModule's definitions and has no duration: ` +
  `give one, as in @ClusterSingleton(${show(semaphore)}, '10m')`;

export const NOT_STATIC = (method: string) =>
  `${method} is guarded, but its provider is not static (request-scoped or transient): @nestjs/schedule runs no such ` +
  `method; calls of it are guarded`;
