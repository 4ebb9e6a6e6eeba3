/**
 * A covering table: every two values of different columns meet in some row, but for Nest 12 in Jest as CommonJS on
 * Node 20 and 22, which the combination itself can't do (Nest 12 is ESM only; Jest requires ES modules from Node 24.9).
 *
 * `options` are what the row has of its own: `resolution` of TypeScript, `transform` of Jest, versions.
 */
const row = (nest, module, runner, platform, node, options = {}) => ({
  name: `nest${nest}-${module === 'CommonJS' ? 'cjs' : 'esm'}-${runner}-${platform}-node${node}`.toLowerCase(),
  nest,
  module,
  runner,
  platform,
  node,
  ...options,
});

/** The first row has the oldest versions that the peers allow. */
export const ROWS = [
  row(10, 'CommonJS', 'Jest', 'Express', 20, {
    schedule: '4.0.0',
    reflectMetadata: '^0.1.13',
    isRepresentative: true,
  }),
  row(10, 'ESM', 'Vitest', 'Fastify', 22),
  row(10, 'CommonJS', 'Vitest', 'Express', 24),
  row(11, 'CommonJS', 'Jest', 'Express', 20, { isRepresentative: true }),
  row(11, 'CommonJS', 'Jest', 'Fastify', 22, { schedule: '^5.0.0', resolution: 'node16', transform: 'swc' }),
  row(11, 'ESM', 'Vitest', 'Express', 24),
  row(11, 'ESM', 'Jest', 'Fastify', 20),
  row(12, 'ESM', 'Vitest', 'Fastify', 20, { isRepresentative: true }),
  row(12, 'ESM', 'Jest', 'Express', 22),
  row(12, 'CommonJS', 'Jest', 'Express', 24),
  row(12, 'CommonJS', 'Vitest', 'Fastify', 24),
];

const onRuntime = (runtime, nest, module, platform) => ({
  ...row(nest, module, undefined, platform, 20),
  name: `nest${nest}-${module === 'CommonJS' ? 'cjs' : 'esm'}-${platform}-${runtime}`.toLowerCase(),
  runtime,
});

/**
 * Applications on other runtimes: started and closed there, without a test runner. None is CommonJS on Deno: while Deno's
 * own cache is empty, Deno 2.9 hangs in `require` of an ES module.
 */
export const RUNTIME_ROWS = [
  onRuntime('Bun', 11, 'CommonJS', 'Express'),
  onRuntime('Bun', 12, 'ESM', 'Fastify'),
  onRuntime('Deno', 12, 'ESM', 'Fastify'),
];

/** With what an application of each major of Nest comes: the versions and settings of its own starter. */
export const MAJORS = {
  10: {
    schedule: '^4.1.0',
    terminus: '^11.0.0',
    typescript: '^5.1.3',
    reflectMetadata: '^0.2.0',
    resolution: 'node10',
  },
  11: {
    schedule: '^6.0.0',
    terminus: '^11.0.0',
    typescript: '^5.7.3',
    reflectMetadata: '^0.2.2',
    resolution: 'nodenext',
  },
  12: {
    schedule: '^12.0.0',
    terminus: '^12.0.0',
    typescript: '^6.0.2',
    reflectMetadata: '^0.2.2',
    resolution: 'nodenext',
  },
};
