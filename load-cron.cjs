/**
 * Loads the package `cron` when the first schedule is made. It comes with the optional peer @nestjs/schedule, whose version is
 * preferred: then expressions are read as `@Cron` reads them. An application may also install `cron` itself. CommonJS for
 * the same reasons as load-hazelcast-client.cjs.
 */
const { createRequire } = require('node:module');

let cron;
module.exports = () => (cron ??= load());

function load() {
  return (
    attempt(() => createRequire(require.resolve('@nestjs/schedule/package.json'))('cron')) ??
    attempt(() => require('cron'))
  );
}

/** Undefined if a package is missing. */
function attempt(load) {
  try {
    return load();
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
