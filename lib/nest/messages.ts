import { quoted, show } from '../core/decision/index.js';
import { formatDuration } from '../operate/insight/format-duration.js';
import type { UnstableName } from './class-names.js';

export const STATIC_METHOD = (decorator: string, method: string) =>
  `${decorator} can't guard the static method ${method}: make it a method of a provider`;

export const NOT_A_METHOD = (decorator: string, property: string) =>
  `${decorator} can only guard methods, not ${property}`;

export const STANDARD_DECORATOR = (decorator: string) =>
  `${decorator} was called as a standard decorator, and Nest's decorators are those of TypeScript: set "experimentalDecorators" ` +
  'and "emitDecoratorMetadata" to true in the tsconfig.json that the compiler, esbuild or tsx reads';

export const SYMBOL_METHOD = (decorator: string, method: string) =>
  `${decorator} can't be used on ${method}: Nest does not find methods whose name is a symbol. Give it a name`;

export const GENERATOR = (decorator: string, method: string) =>
  `${decorator} can't be used on the generator ${method}: a call of it runs nothing. Make it an async method`;

/** @param longest duration of the definitions of this node's code, in ms; 0 if there is none */
export const NO_SHUTDOWN_HOOKS = (longest: number) =>
  'this application has no shutdown hooks: a signal (a deploy, a reload of PM2, nest start --watch) ends it at once, without ' +
  `giving its permits back. Their jobs run nowhere until the permits expire${longest > 0 ? `, up to ${formatDuration(longest)} later` : ''}. ` +
  'With app.enableShutdownHooks() in main.ts they go back at once';

export const LAZY = (method: string) =>
  `${method} returned an Observable, whose work begins after the run: return a promise, as firstValueFrom() makes it`;

export const TWICE = (decorator: string, method: string) =>
  `${method} has two ${decorator} decorators: keep one of them, and put the other on a method that this method calls`;

export const NOT_ONE_LINE = (decorator: string, method: string) =>
  `${decorator} can't guard ${show(method)}: its name has control characters or half a character. Rename it`;

export const NO_GATEKEEPER = (decorator: string, method: string) =>
  `${method} is guarded by ${decorator}, but its instance has no gatekeeper, so it does not run. In an application ` +
  `import GatekeeperModule.forRoot({...}) and let Nest create the instance. In a unit test call ` +
  `guardWith(instance, gatekeeper) with a new TestGatekeeper(), or import GatekeeperTestingModule.forRoot(): both come ` +
  `from nestjs-gatekeeper/testing`;

export const NOT_ANSWERED = (method: string, answer: unknown) =>
  `${method} may or may not have run: run() of its gatekeeper returned ${show(answer)}. If that is a mock, use ` +
  `new TestGatekeeper() of nestjs-gatekeeper/testing instead, or let its run() call the method and return ` +
  `{ executed: true, value } or { executed: false, reason }`;

export const BAD_SEMAPHORE = (fault: string) =>
  `the function that gives the semaphore's name returned an invalid one: ${fault}`;

export const OTHER_DURATION = (
  method: string,
  semaphore: string,
  duration: number,
  other: string,
  otherDuration: number,
) =>
  `${method}: semaphore ${show(semaphore)} gets the duration ${duration} ms here and ${otherDuration} ms at ${other}: ` +
  `give both the same duration, or list the semaphore in GatekeeperModule's definitions`;

export const UNDEFINED = (method: string, semaphore: string) =>
  `${method}: semaphore ${show(semaphore)} is not in GatekeeperModule's definitions, and requireDefinitions is on: add it`;

export const NO_DURATION = (method: string, semaphore: string) =>
  `${method}: semaphore ${show(semaphore)} is not in GatekeeperModule's definitions and has no duration: ` +
  `give one, as in @ClusterSingleton(${show(semaphore)}, '10m')`;

export const NOT_STATIC = (method: string) =>
  `${method} is guarded, but its provider is not static (request-scoped or transient): @nestjs/schedule does not run such ` +
  `methods; direct calls are guarded`;

export const NO_SCHEDULER = ([first, ...others]: readonly string[]) =>
  `${first}${others.length > 0 ? ` and ${others.length} more` : ''} will not run by a schedule on this node: import ` +
  `ScheduleModule.forRoot() of @nestjs/schedule in the root module`;

/** @param modules those that import it, as far as they are known */
export const SEVERAL_SCHEDULERS = (count: number, modules: readonly string[]) =>
  `@nestjs/schedule is imported ${count} times${modules.length > 0 ? ` (by ${modules.join(', ')})` : ''}, and each time calls all methods ` +
  `with a schedule, so those without a guard run ${count} times per tick on this node: call ScheduleModule.forRoot() once, in the ` +
  'root module. Guarded methods run once per tick';

/** @param places modules of its instances */
export const SEVERAL_INSTANCES = (className: string, places: readonly string[]) =>
  `${className} is provided ${places.length} times (by ${places.join(', ')}), and @nestjs/schedule calls the methods of each instance: ` +
  'provide it in one module that exports it, and import that module, or use useExisting for another token. Guarded methods ' +
  'run once per tick, on one of the instances';

export const NOT_CALLED = (method: string) =>
  `${method} hears of no leadership: its provider is not static (request-scoped or transient). Make it a singleton`;

export const NOT_TOLD = (method: string) =>
  `${method} is never called with resources: its provider is not static (request-scoped or transient). Make it a singleton`;

export const SECOND_HANDLER = (method: string, other: string, handled: string) =>
  `${method} handles ${handled}, and ${other} does so already: keep one handler per type on a node`;

export const SECOND_INVALID_HANDLER = (method: string, other: string) =>
  `${method} handles invalid tasks, and ${other} does so already: keep one @InvalidTaskHandler() per node, for all types`;

export const SECOND_SCHEDULE = (method: string, other: string, name: string) =>
  `${method} has a schedule with the name ${show(name)}, and ${other} has one, too: give one of them another name`;

export const SECOND_INSTANCE = (method: string) =>
  `${method} has a schedule, and there are two instances of its class, or two classes of its name: provide the class in one module that ` +
  "exports it, or give one of the schedules another name, as in @ClusterCron('0 3 * * *', { name: 'nightly' })";

export const SECOND_MISSED = (method: string, semaphore: string) =>
  `${method}: missed: "once" of semaphore ${show(semaphore)} needs a job of its own, and another method with the same ` +
  `name has it, too: give one of them another name, as in { missed: 'once', job: 'nightly' }`;

export const REQUEST_SCOPED_CONTROLLER = (method: string) =>
  `${method} handles tasks, but its controller is in request scope: make it a method of a provider`;

export const FAILED_STRATEGY = (reason: string) =>
  `the strategy that the application gave to ContextIdFactory.apply() failed for a task: ${reason}. Its "request" is the ` +
  'context of a task, with "data" and without "headers": let it return the tenant of these, or (info) => contextId';

export const LEADERS_TASK = (method: string) =>
  `${method} handles tasks and has @LeaderOnly: a node that does not lead would take a task and skip the call, and the ` +
  `task would be completed without its work. Remove @LeaderOnly: one node at a time runs a task anyway`;

export const QUIET_SKIP = (method: string) =>
  `${method} handles tasks and has @ClusterSingleton without onSkip: 'throw': a skipped run would complete the task ` +
  `without its work. Add onSkip: 'throw', then the task is tried again`;

export const NOT_ENABLED = (method: string) =>
  `${method} needs a leader, but leadership is off on this node: set leadership: { enabled: true } in GatekeeperModule's ` +
  `options, or call initialize() of ClusterService`;

export const NO_OPTIONS =
  'it has no options: give forRoot() some, or let the factory of forRootAsync() return them, as in { store: memory() }';

export const FROZEN = (className: string) =>
  `an instance of ${className} can't get the gatekeeper for its guarded methods, because it is frozen or sealed: give the instance as it was made`;

export const REQUEST_SCOPED_OPTIONS =
  'its options depend on a provider in request scope, so each request would make a gatekeeper and a store that are never ' +
  'closed: make all providers that forRootAsync() injects, and those that they inject, singletons';

const KEEP_NAMES = 'let the bundler keep the names of classes (docs/bundling.md)';

const UNSTABLE: Record<UnstableName, { readonly why: string; readonly each: string; readonly or: string }> = {
  minified: { why: 'whose name is minified', each: 'each build', or: `, or ${KEEP_NAMES}` },
  'made-up': { why: 'whose name is made at run time, as by mixin() of Nest', each: 'each process', or: '' },
};

export const UNSTABLE_SCHEDULE = (method: string, kind: UnstableName) =>
  `${method} names its schedule after a class ${UNSTABLE[kind].why}, so ${UNSTABLE[kind].each} makes another schedule, and each of them ` +
  `runs at every tick: give it a name, as in @ClusterCron('0 3 * * *', { name: 'nightly' })${UNSTABLE[kind].or}`;

export const UNSTABLE_MISSED = (method: string, kind: UnstableName) =>
  `${method}: missed: "once" names the job after a class ${UNSTABLE[kind].why}, so ${UNSTABLE[kind].each} makes another job, and ` +
  `nothing is made up for: give it a name, as in { missed: 'once', job: 'nightly' }${UNSTABLE[kind].or}`;

export const UNSTABLE_JOBS = (methods: readonly string[], kind: UnstableName) =>
  `jobs are named after classes ${UNSTABLE[kind].why} (${methods.join(', ')}), so ${UNSTABLE[kind].each} makes other jobs: history ` +
  `and "run now" do not know them again. Give @ClusterSingleton the option job, as in { job: 'nightly' }${UNSTABLE[kind].or}`;

export const SAME_JOB = (method: string, count: number, semaphore: string) =>
  `${count} classes have a method ${method} under semaphore ${quoted(semaphore)}, so all are one job: while one runs, the others are ` +
  "skipped as overlap. Give each the option job, as in { job: 'nightly' }, or another semaphore";

const ONE_VERSION = 'let all packages of the application use one version ("npm ls nestjs-gatekeeper" lists them)';

export const OTHER_FORMAT = (method: string, own: string, others: readonly string[]) =>
  `${method} has a decorator of nestjs-gatekeeper ${others.join(' or ')}, which GatekeeperModule of ${own} can't read: ${ONE_VERSION}`;

export const OTHER_VERSIONS = (own: string, others: readonly string[]) =>
  `nestjs-gatekeeper ${others.join(' and ')} is loaded beside ${own}, and they do not work together: decorators, services and ` +
  `errors of one are unknown to the other. ${ONE_VERSION[0]!.toUpperCase()}${ONE_VERSION.slice(1)}`;

export const SEVERAL_GATEKEEPERS = (count: number) =>
  `the application has ${count} of them: call forRoot() or forRootAsync() once, in the root module. Modules that import a ` +
  `module with isGlobal: false must import one and the same result of that call`;
