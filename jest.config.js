export default {
  runner: '<rootDir>/tools/test/runner.mjs',
  roots: ['<rootDir>/test', '<rootDir>/examples'],
  testMatch: ['**/*.spec.ts'],
  setupFilesAfterEnv: ['<rootDir>/tools/test/setup.mjs'],
  reporters: ['default', '<rootDir>/tools/test/closing-line.reporter.js'],
  transform: {},
  // Two more than the cores that the tests are meant for: some wait for timers, and the others have both cores then.
  maxWorkers: 4,
};
