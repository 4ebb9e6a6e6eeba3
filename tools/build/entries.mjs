/* What the package consists of. `exports` in package.json names the same files. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The sources by the name of the entry that is built from them. */
export const ENTRIES = {
  index: join(ROOT, 'lib/index.ts'),
  postgres: join(ROOT, 'lib/postgres.ts'),
  redis: join(ROOT, 'lib/stores/redis/index.ts'),
  opentelemetry: join(ROOT, 'lib/telemetry/index.ts'),
  testing: join(ROOT, 'lib/testing/index.ts'),
};
/** The command line: a program, so it exists once, as an ES module. */
export const COMMAND_LINE = { cli: join(ROOT, 'lib/cli/main.ts') };

/** The folder of each kind of module. */
export const ES_MODULES = join(ROOT, 'dist');
export const COMMONJS = join(ROOT, 'dist-cjs');

/** Packages that become part of the bundles. */
const BUNDLED = /^(zod|@oxc-project\/runtime)(\/|$)/;

/** Whether an application's own copy is loaded: of its packages, of Node's modules, and of the loaders beside `dist`. */
export function isExternal(id) {
  return (/^[a-z@]/.test(id) && !BUNDLED.test(id)) || id.endsWith('.cjs');
}
