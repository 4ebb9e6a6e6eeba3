import { hostname } from 'node:os';
import { type GatekeeperOptions, InvalidOptionsError, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';

const store = memory();
const NO_JSON = 'has a value that JSON';
const faultsFor = (options: unknown): readonly string[] => {
  try {
    parseGatekeeperOptions(options as GatekeeperOptions);
  } catch (error) {
    if (error instanceof InvalidOptionsError) return error.faults;
    throw error;
  }
  return [];
};

describe("a gatekeeper's options", () => {
  it('have defaults', () => {
    expect(parseGatekeeperOptions({ store })).toEqual({
      store,
      group: 'default',
      acquirer: hostname(),
      application: 'nestjs-gatekeeper',
      definitions: [],
      requireDefinitions: false,
      definitionsDelay: 5000,
      codeChanges: 'follow',
      clockTolerance: 500,
      callTimeout: 2000,
      sweepInterval: 10_000,
      heartbeat: 10_000,
      metadata: {},
      history: true,
      leadership: { enabled: false, scopes: ['default'], lease: 10_000 },
      allocation: { groups: [] },
      tasks: { work: true, maxBytes: 65_536 },
      shutdownGrace: 10_000,
      strictStart: false,
    });
  });

  it.each([
    ['store', {}, 'is missing: give hazelcast('],
    ['store', { store: 'memory' }, '"memory" is no store: give hazelcast('],
    ['acquirers', { store, acquirers: 'app1' }, 'store, group, acquirer, '],
    ['group', { store, group: '' }, 'empty'],
    ['acquirer', { store, acquirer: 5 }, '5'],
    ['definitions', { store, definitions: 'job' }, 'job'],
    ['requireDefinitions', { store, requireDefinitions: 'yes' }, '"yes" is neither true nor false'],
    ['definitionsDelay', { store, definitionsDelay: 'soon' }, '"soon"'],
    ['stateDump', { store, stateDump: 0 }, '0'],
    ['telemetry', { store, telemetry: {} }, 'is not openTelemetry()'],
    ['logFields', { store, logFields: '' }, 'empty'],
    ['clockTolerance', { store, clockTolerance: -1 }, '-1'],
    ['callTimeout', { store, callTimeout: 'NaN' }, '"NaN"'],
    ['sweepInterval', { store, sweepInterval: null }, 'null'],
    ['shutdownGrace', { store, shutdownGrace: '-5s' }, '"-5s"'],
    ['strictStart', { store, strictStart: 1 }, '1 is neither'],
    ['timeout', { store, timeout: 1 }, 'timeout'],
    ['tasks.maxBytes', { store, tasks: { maxBytes: 0 } }, '0 is not a whole number from 1 to 1048576'],
    ['tasks.maxBytes', { store, tasks: { maxBytes: 1_048_577 } }, '1048577 is not'],
    ['tasks.maxBytes', { store, tasks: { maxBytes: '64k' } }, '"64k" is not'],
    ['tasks.workers', { store, tasks: { workers: 4 } }, 'maxBytes'],
    ['history', { store, history: 'no' }, '"no" is neither true, false nor { stacks: false }'],
    ['history.stack', { store, history: { stack: false } }, 'stacks, archive'],
    ['history.archive', { store, history: { archive: './runs' } }, 'is neither fileHistoryArchive({ folder }) nor'],
    ['membership', { store, membership: true }, 'true is not an object of options'],
    ['membership.lease', { store, membership: { lease: 'soon' } }, '"soon"'],
    ['sweepInterval', { store, sweepInterval: 'P1Y' }, '"P1Y"'],
    ['shutdownGrace', { store, shutdownGrace: 'P2M' }, '"P2M"'],
    ['definitions.0.duration', { store, definitions: [{ name: 'a', duration: 'P1M' }] }, '"P1M"'],
    [
      'membership.lease',
      { store, membership: { lease: '1500ms' } },
      '1500 ms must be more than 3 x clockTolerance (500',
    ],
    ['membership.lease', { store, membership: {}, clockTolerance: '4s' }, '10000 ms '],
    ['membership.lease', { store, membership: { lease: '11m' } }, '"11m" is longer than 10 minutes'],
    ['membership.beat', { store, membership: { beat: 1 } }, 'lease'],
    ['metadata', { store, metadata: 'a' }, '"a" is not an object'],
    ['metadata', { store, metadata: ['a'] }, 'a list is not'],
    ['metadata', { store, metadata: { at: new Date(0) } }, NO_JSON],
    ['metadata', { store, metadata: { no: undefined } }, NO_JSON],
    ['metadata', { store, metadata: { n: 1n } }, NO_JSON],
    ['metadata', { store, metadata: { n: Number.NaN } }, NO_JSON],
    ['metadata', { store, metadata: { text: 'é'.repeat(600) } }, 'takes 1211 bytes as JSON: give at most 1024'],
    ['definitions.0.duration', { store, definitions: [{ name: 'job' }] }, 'undefined'],
    ['definitions.0.permits', { store, definitions: [{ name: 'job', duration: 9999, permits: 1001 }] }, '1001'],
    ['definitions.0.groupPattern', { store, definitions: [{ name: 'job', duration: 9999, groupPattern: '(' }] }, '"("'],
    ['definitions.0.duration', { store, definitions: [{ name: 'job', duration: '1s' }] }, 'clockTolerance'],
  ])('that are wrong are named: %s of %p', (field, options, value) => {
    const faults = faultsFor(options);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(field);
    expect(faults[0]).toContain(value);
  });

  it('include the lease of a membership in ms, and a copy of the metadata', () => {
    const metadata = { address: 'http://10.0.0.7:3000', tags: ['a'] };
    const options = parseGatekeeperOptions({ store, membership: { lease: '20s' }, metadata });
    metadata.tags.push('b');
    expect(options).toMatchObject({
      membership: { lease: 20_000 },
      metadata: { address: 'http://10.0.0.7:3000', tags: ['a'] },
    });
    expect(parseGatekeeperOptions({ store, membership: {} }).membership).toEqual({ lease: 10_000 });
  });

  it('that are wrong in many places make one error with all of them', () => {
    const definitions = [
      { name: 'job', duration: '10s' },
      { name: 'job', duration: '1s' },
      { name: '', duration: 'x', permits: -1 },
    ];
    const faults = faultsFor({ group: 7, callTimeout: 'x', definitions });
    expect(faults.map((fault) => fault.split(':')[0])).toEqual(
      expect.arrayContaining([
        'store',
        'group',
        'callTimeout',
        'definitions.1.name',
        'definitions.1.duration',
        'definitions.2.name',
        'definitions.2.duration',
        'definitions.2.permits',
      ]),
    );
  });

  it.each([undefined, null, 'memory', []])('must be an object, not %p', (options) => {
    expect(faultsFor(options)).toHaveLength(1);
  });
});
