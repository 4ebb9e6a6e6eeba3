import swc from './test/swc.options.js';

export default {
  testEnvironment: '<rootDir>/test/forgetful.environment.js',
  // Its soft form wraps objects that outlive a file once more after each file: after a hundred the stack overflows.
  testEnvironmentOptions: { globalsCleanup: 'off' },
  roots: ['<rootDir>/test', '<rootDir>/examples'],
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': ['<rootDir>/test/quick-globals.transform.js', swc],
    '/node_modules/zod/.+\\.js$': ['<rootDir>/test/quick-globals.transform.js', {}],
  },
  transformIgnorePatterns: ['/node_modules/(?!zod/)'],
  moduleNameMapper: {
    '^nestjs-gatekeeper$': '<rootDir>/lib/index.ts',
    '^nestjs-gatekeeper/opentelemetry$': '<rootDir>/lib/telemetry/index.ts',
    '^nestjs-gatekeeper/postgres$': '<rootDir>/lib/postgres.ts',
    '^nestjs-gatekeeper/redis$': '<rootDir>/lib/stores/redis/index.ts',
    '^nestjs-gatekeeper/testing$': '<rootDir>/lib/testing/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  testSequencer: '<rootDir>/test/longest-first.sequencer.js',
  reporters: ['default', '<rootDir>/test/closing-line.reporter.js'],
  // One more than the cores that the tests are meant for: a third of the files wait for processes most of the time.
  maxWorkers: 3,
  // A test that waits for ever ends here; a machine that is ten times as slow for a while does not.
  testTimeout: 300_000,
};
