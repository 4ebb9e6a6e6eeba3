import { show } from '../decision/index.js';

export const STATIC_METHOD = (method: string) =>
  `@ClusterSingleton can't guard the static method ${method}: make it a method of a provider`;

export const NOT_A_METHOD = (property: string) => `@ClusterSingleton can only guard methods, not ${property}`;

export const TWICE = (method: string) =>
  `${method} has two @ClusterSingleton decorators: use one of them, and call another method that is guarded by the other`;

export const NOT_ONE_LINE = (method: string) =>
  `${show(method)} is guarded by @ClusterSingleton and has control characters or half a character in its name: rename it`;

export const NO_GATEKEEPER = (method: string) =>
  `${method} is guarded by @ClusterSingleton, but its instance has no gatekeeper, so it does not run. In an application ` +
  `import GatekeeperModule.forRoot({...}) and let Nest make the instance. In a unit test call ` +
  `guardWith(instance, gatekeeper) with a new TestGatekeeper(), or import GatekeeperTestingModule.forRoot(): both come ` +
  `from nestjs-gatekeeper/testing`;

export const NOT_ANSWERED = (method: string, answer: unknown) =>
  `${method} can't know whether it ran: run() of its gatekeeper answered ${show(answer)}. If that is a mock, use ` +
  `new TestGatekeeper() of nestjs-gatekeeper/testing instead, or let its run() call the method and answer ` +
  `{ executed: true, value } or { executed: false, reason }`;

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
  `${method} is guarded, but its provider is not static (request-scoped or transient): @nestjs/schedule does not run such ` +
  `methods; direct calls are guarded`;
