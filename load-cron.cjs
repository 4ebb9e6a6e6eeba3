/**
 * Loads the package `cron` when the first schedule is made. It comes with the optional peer @nestjs/schedule, whose version is
 * preferred: then expressions are read as `@Cron` reads them. An application may also install `cron` itself. CommonJS for
 * the same reasons as load-pg.cjs.
 */
const { createRequire } = require('node:module');
const { isAbsolute } = require('node:path');

let cron;
module.exports = () => (cron ??= load());

function load() {
  const schedule = scheduleFolder();
  try {
    return schedule === undefined ? require('cron') : createRequire(schedule)('cron');
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** A file in the folder of @nestjs/schedule. Undefined if there is none: it is not installed, or in the bundle of an application. */
function scheduleFolder() {
  try {
    const found = require.resolve('@nestjs/schedule/package.json');
    return isAbsolute(String(found)) ? found : undefined;
  } catch {
    return undefined;
  }
}
