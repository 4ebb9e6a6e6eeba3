export default {
  runner: '<rootDir>/tools/test/runner.mjs',
  roots: ['<rootDir>/test', '<rootDir>/examples'],
  testMatch: ['**/*.spec.ts'],
  setupFilesAfterEnv: ['<rootDir>/tools/test/setup.mjs'],
  reporters: ['default', '<rootDir>/tools/test/closing-line.reporter.js'],
  transform: {},
  maxWorkers: 2,
};
