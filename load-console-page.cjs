/**
 * Loads the files of the console's page, if they were built. They are texts in a module, so that a bundler takes them into
 * the bundle of an application. CommonJS for the same reasons as load-pg.cjs.
 */
let page;
module.exports = () => (page ??= load());

function load() {
  try {
    return require('./dist/console-page.cjs');
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
