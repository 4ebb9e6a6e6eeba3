/**
 * Loads the optional peer `pg`, if it is installed. CommonJS on purpose, as all loaders here: `require` is synchronous, and Node,
 * Jest and Vitest run it alike. The literal name lets bundlers take the package into an application's bundle; inside `try`
 * it may be missing. Loaded once: Jest refuses a `require` after the end of a test file.
 */
let pg;
module.exports = () => (pg ??= load());

function load() {
  try {
    return require('pg');
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
