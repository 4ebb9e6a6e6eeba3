import { type ConsoleLogger, Logger } from '@nestjs/common';
import { GatekeeperService, memory } from 'nestjs-gatekeeper';
import { FakeTime } from '../support/fake-time.js';

/** A store that other processes use, too. */
const SHARED = { ...memory(), isOwn: false };
const DEFINITIONS = [
  { name: 'mails', duration: '1m' },
  { name: 'nightly', duration: '10m' },
];
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

describe('an application without shutdown hooks', () => {
  const warnings: string[] = [];
  const listeners = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const);
  let time: FakeTime;
  let service: GatekeeperService | undefined;

  beforeEach(() => {
    warnings.length = 0;
    time = new FakeTime();
    const quiet = { log() {}, debug() {}, error() {}, warn: (line: string) => void warnings.push(line) };
    Logger.overrideLogger(quiet as unknown as ConsoleLogger);
    for (const signal of SIGNALS) process.removeAllListeners(signal);
  });
  afterEach(async () => {
    const closing = service?.close();
    await time.advance(20_000);
    await closing;
    Logger.overrideLogger(undefined as never);
    for (const signal of SIGNALS) process.removeAllListeners(signal);
    for (const [signal, all] of listeners) for (const listener of all) process.on(signal, listener as () => void);
  });

  async function boot(store = SHARED): Promise<void> {
    service = new GatekeeperService({ store, definitions: DEFINITIONS }, { nodeClock: time });
    service.onApplicationBootstrap();
    // Nest calls it for each token of the instance.
    service.onApplicationBootstrap();
    await time.advance(4000);
    expect(warnings).toEqual([]);
  }

  it('is warned once of what that costs', async () => {
    await boot();
    await time.advance(2000);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^this application has no shutdown hooks: .* up to 10 min later\. .*enableShutdownHooks\(\)/,
      ),
    ]);
  });

  it('is not warned if it enables them after the boot', async () => {
    await boot();
    process.on('SIGTERM', () => undefined);
    await time.advance(10_000);
    expect(warnings).toEqual([]);
  });

  it('is not warned where its permits end with the process', async () => {
    await boot(memory() as typeof SHARED);
    await time.advance(10_000);
    expect(warnings).toEqual([]);
  });

  it('is not warned if it was closed before', async () => {
    await boot();
    const closing = service!.close();
    await time.advance(10_000);
    await closing;
    expect(warnings).toEqual([]);
  });
});
