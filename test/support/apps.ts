import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplication, LoggerService, ModuleMetadata, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  type GatekeeperEvent,
  GatekeeperModule,
  type GatekeeperOptions,
  GatekeeperService,
  type StoreDefinition,
  memory,
} from 'nestjs-gatekeeper';
import { partsOf } from '../../lib/gatekeeper/parts.js';

/** The application's log; each line begins with its level. */
export type Log = string[];

export interface App {
  readonly app: INestApplication;
  readonly gatekeeper: GatekeeperService;
  readonly events: GatekeeperEvent[];
  readonly log: Log;
  get<T>(type: Type<T>): T;
}

/** Small enough that a test in real time is over soon. */
const QUICK: Partial<GatekeeperOptions> = { definitionsDelay: 0, clockTolerance: 10 };

/** Applications that are closed when the test ends. */
export function useApps() {
  const apps: INestApplication[] = [];
  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
  });

  async function start(metadata: ModuleMetadata, log: Log = []): Promise<INestApplication> {
    const builder = Test.createTestingModule(metadata);
    const module = await builder.setLogger(collecting(log)).compile();
    const app = module.createNestApplication();
    app.useLogger(collecting(log));
    apps.push(app);
    await app.init();
    return app;
  }

  /** An application with a gatekeeper that has loaded its definitions. */
  async function boot(
    { imports = [], ...metadata }: ModuleMetadata,
    options: Partial<GatekeeperOptions> = {},
    store: StoreDefinition = memory(),
  ): Promise<App> {
    const log: Log = [];
    const forRoot = GatekeeperModule.forRoot({ store, acquirer: `app${apps.length + 1}`, ...QUICK, ...options });
    const app = await start({ ...metadata, imports: [...imports, forRoot] }, log);
    const gatekeeper = app.get(GatekeeperService);
    const events: GatekeeperEvent[] = [];
    gatekeeper.events$.subscribe((event) => events.push(event));
    const expected = partsOf(gatekeeper).directory.declared.all.map(({ name }) => name);
    await until(async () => {
      const known = new Set((await gatekeeper.state()).semaphores.map(({ name }) => name));
      return expected.every((name) => known.has(name));
    });
    return { app, gatekeeper, events, log, get: (type) => app.get(type) };
  }

  return { start, boot };
}

/** Waits for a condition. @param most ms to wait at most: on a machine that is busy much takes long */
export async function until(condition: () => boolean | Promise<boolean>, most = 60_000): Promise<void> {
  const deadline = performance.now() + most;
  for (;;) {
    const from = performance.now();
    if (await condition()) return;
    const now = performance.now();
    if (now > deadline) throw new Error(`not within ${most} ms: ${condition}`);
    // Without pauses longer than the looks the test would take the processor from that which it waits for, and from others.
    await pause(1 + 3 * (now - from));
  }
}

/** A logger that notes each line, begun with its level. */
export function collecting(log: Log): LoggerService {
  const level = (name: string) => (message: unknown) => void log.push(`${name} ${message}`);
  return {
    log: level('log'),
    warn: level('warn'),
    error: level('error'),
    debug: level('debug'),
    fatal: level('fatal'),
  };
}

/** The error with which an application does not boot. */
export async function bootError(attempt: Promise<unknown>): Promise<Error> {
  return attempt.then(
    () => {
      throw new Error('it booted');
    },
    (error: Error) => error,
  );
}
