import { ConsoleLogger, Logger } from '@nestjs/common';
import { StoreUnavailableError, remote } from 'nestjs-gatekeeper';
import { Environment } from '../../sample-app/src/environment.js';
import { storeOf } from '../../sample-app/src/gatekeeper.config.js';
import { embeddedStore } from '../../sample-app/src/run/embedded-store.js';
import type { SharedStore } from '../../sample-app/src/run/shared-store.js';

describe('the embedded store of the sample', () => {
  let shared: SharedStore;
  beforeEach(async () => {
    shared = await embeddedStore();
    // A refused token has a line.
    Logger.overrideLogger(false);
  });
  afterEach(async () => {
    await shared[Symbol.asyncDispose]();
    Logger.overrideLogger(new ConsoleLogger());
  });

  const open = () => storeOf(new Environment(shared.variables)).open({});

  it('is one store for all nodes that have its variables', async () => {
    const [one, other] = [open(), open()];
    expect(await one.records.compareAndSet('sample', undefined, 'text')).toBe(true);
    expect(await other.records.read('sample')).toBe('text');
    await other.queue('mail').offer(['task']);
    expect(await one.queue('mail').drain(1)).toEqual(['task']);
    await Promise.all([one.close(), other.close()]);
  });

  it('listens on the loopback address, on a port that no one chose', async () => {
    const { hostname, port } = new URL(shared.variables['STORE_URL']!);
    expect(hostname).toBe('127.0.0.1');
    await using second = await embeddedStore();
    expect(new URL(second.variables['STORE_URL']!).port).not.toBe(port);
  });

  it('refuses those without its token', async () => {
    const stranger = remote({ url: shared.variables['STORE_URL']!, token: 'another' }).open({});
    await expect(stranger.verify!()).rejects.toThrow('401');
    await stranger.close();
  });

  it('is gone when the launcher ends', async () => {
    const left = open();
    await shared[Symbol.asyncDispose]();
    await expect(left.records.read('sample')).rejects.toBeInstanceOf(StoreUnavailableError);
    await left.close();
    shared = await embeddedStore();
  });
});
