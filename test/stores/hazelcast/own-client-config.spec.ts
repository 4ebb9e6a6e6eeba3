import { LogLevel, ReconnectMode } from 'hazelcast-client';
import { ClientLog, ownClientConfig } from '../../../lib/stores/hazelcast/client-source.js';
import {
  type OwnClientOptions,
  type ResolvedOwnOptions,
  resolveOptions,
} from '../../../lib/stores/hazelcast/hazelcast.options.js';

const log = new ClientLog(undefined, () => undefined);
const configOf = (options: OwnClientOptions, knownMembers: string[] = []) =>
  ownClientConfig(resolveOptions(options) as ResolvedOwnOptions, { log, onState: () => undefined, knownMembers });

describe('The config of an own client', () => {
  it('counts a missed backup as a failure, sends nothing twice, and fetches no ids in advance', () => {
    expect(configOf({ clockName: 'clock' })).toMatchObject({
      properties: { 'hazelcast.client.operation.fail.on.indeterminate.state': true },
      network: { redoOperation: false },
      flakeIdGenerators: { 'clock*': { prefetchCount: 1 } },
      connectionStrategy: { asyncStart: false, reconnectMode: ReconnectMode.OFF },
    });
  });

  it('has what the user added', () => {
    const listener = () => undefined;
    const config = configOf({
      clientConfig: {
        clientLabels: ['label'],
        network: { connectionTimeout: 500 },
        lifecycleListeners: [listener],
        properties: { 'hazelcast.client.heartbeat.timeout': 7 },
        flakeIdGenerators: { other: { prefetchCount: 7 } },
      },
    });
    expect(config).toMatchObject({
      clientLabels: ['label'],
      network: { connectionTimeout: 500, clusterMembers: ['127.0.0.1:5701'] },
      properties: { 'hazelcast.client.heartbeat.timeout': 7 },
      flakeIdGenerators: { other: { prefetchCount: 7 } },
    });
    expect(config.lifecycleListeners).toContain(listener);
  });

  it('sends its metrics every 30 s, unless the user wants others or none', () => {
    expect(configOf({}).metrics).toEqual({ collectionFrequencySeconds: 30 });
    expect(configOf({ clientConfig: { metrics: { collectionFrequencySeconds: 5 } } }).metrics).toEqual({
      collectionFrequencySeconds: 5,
    });
    expect(configOf({ clientConfig: { metrics: { enabled: false } } }).metrics).toMatchObject({ enabled: false });
  });

  it('tries the configured members first, then those that were seen, each once', () => {
    const config = configOf({ members: ['a:1', 'b:1'] }, ['b:1', 'c:1']);
    expect(config.network?.clusterMembers).toEqual(['a:1', 'b:1', 'c:1']);
  });
});

describe('The log of the client', () => {
  it('goes to the logger by level, and nowhere without one', () => {
    const logger = { error: jest.fn(), warn: jest.fn(), log: jest.fn(), debug: jest.fn() };
    const log = new ClientLog(logger, () => undefined);
    for (const level of [LogLevel.ERROR, LogLevel.WARN, LogLevel.INFO, LogLevel.DEBUG, LogLevel.TRACE]) {
      log.log(level, 'Source', `level ${level}`, level === LogLevel.WARN ? new Error('detail') : undefined);
    }
    expect(logger.error.mock.calls).toEqual([['Source: level 0']]);
    expect(logger.warn.mock.calls).toEqual([['Source: level 1 (Error: detail)']]);
    expect(logger.log.mock.calls).toEqual([['Source: level 2']]);
    expect(logger.debug.mock.calls).toEqual([['Source: level 3']]);
    expect(() => new ClientLog(undefined, () => undefined).error('Source', 'message')).not.toThrow();
  });

  it('remembers the first warning, and passes on whose warning it was', () => {
    const sources: string[] = [];
    const log = new ClientLog(undefined, (source) => sources.push(source));
    log.warn('One', 'first');
    log.warn('Two', 'second');
    expect(log.firstWarning).toBe('first');
    expect(sources).toEqual(['One', 'Two']);
  });
});
