import swc from './test/swc.options.js';

export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
  moduleNameMapper: {
    '^nestjs-gatekeeper$': '<rootDir>/lib/index.ts',
    '^nestjs-gatekeeper/postgres$': '<rootDir>/lib/persistence/postgres/index.ts',
    '^nestjs-gatekeeper/testing$': '<rootDir>/lib/testing/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  reporters: ['default', '<rootDir>/test/closing-line.reporter.js'],
  maxWorkers: 2,
  // A worker is replaced once it holds that much. What each file of tests leaves in its process (hooks of async contexts,
  // modules) makes every promise of the next ones dearer: the simulation took six times as long in an old worker.
  workerIdleMemoryLimit: '400MB',
  testTimeout: 60_000,
};
