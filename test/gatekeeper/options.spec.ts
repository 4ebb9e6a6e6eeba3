import { describe, expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import { type GatekeeperOptions, InvalidOptionsError, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';

const store = memory();
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
      definitions: [],
      requireDefinitions: false,
      definitionsDelay: 5000,
      clockTolerance: 500,
      callTimeout: 2000,
      sweepInterval: 10_000,
      heartbeat: 10_000,
      history: true,
      shutdownGrace: 10_000,
      strictStart: false,
    });
  });

  it.each([
    ['store', {}, 'is missing: give hazelcast('],
    ['store', { store: 'memory' }, '"memory" is no store: give hazelcast('],
    ['acquirers', { store, acquirers: 'app1' }, 'not known here; the options are store, group, acquirer, '],
    ['group', { store, group: '' }, 'empty'],
    ['acquirer', { store, acquirer: 5 }, '5'],
    ['definitions', { store, definitions: 'job' }, 'job'],
    ['requireDefinitions', { store, requireDefinitions: 'yes' }, '"yes" is neither true nor false'],
    ['definitionsDelay', { store, definitionsDelay: 'soon' }, '"soon"'],
    ['stateDump', { store, stateDump: 0 }, '0'],
    ['clockTolerance', { store, clockTolerance: -1 }, '-1'],
    ['callTimeout', { store, callTimeout: 'NaN' }, '"NaN"'],
    ['sweepInterval', { store, sweepInterval: null }, 'null'],
    ['shutdownGrace', { store, shutdownGrace: '-5s' }, '"-5s"'],
    ['strictStart', { store, strictStart: 1 }, '1 is neither'],
    ['timeout', { store, timeout: 1 }, 'timeout'],
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
