import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { nameSchema } from '../core/decision/index.js';

/** A script of a tool, such as a test runner or PM2, says nothing about the application: its folder of work does. */
const OF_A_TOOL = /[\\/]node_modules[\\/]/;

/** Several applications of one package, as in a monorepo of Nest: `dist/apps/shop/main.js`. */
const APPS = /(?:^|[\\/])apps[\\/]([^\\/]+)[\\/]/;

/**
 * Finds the name of the application that runs in this process: the name in the next package.json above its script. If the
 * package has several applications below a folder `apps`, the folder of this one follows: "acme/shop".
 *
 * @param script the file that the process was started with
 * @param folder the process's working directory, for a script that belongs to a tool
 * @returns undefined if no package.json has a name, as beside a bundle
 */
export function applicationName(script = process.argv[1], folder = process.cwd()): string | undefined {
  const started = script === undefined ? undefined : realPath(script);
  const isOwn = started !== undefined && !OF_A_TOOL.test(started);
  const found = nameAbove(isOwn ? dirname(started) : folder);
  if (!found) return undefined;
  const [, app] = APPS.exec(isOwn ? relative(found.folder, started) : '') ?? [];
  const name = app === undefined ? found.name : `${found.name}/${app}`;
  return nameSchema.safeParse(name).success ? name : undefined;
}

/** Follows the links of a package's commands. A script without its extension is no file. */
function realPath(script: string): string {
  try {
    return realpathSync(script);
  } catch {
    // There is no such file, for example because Node added the extension. The path itself will do.
    return script;
  }
}

function nameAbove(folder: string): { readonly folder: string; readonly name: string } | undefined {
  for (let current = folder; ; current = dirname(current)) {
    const name = nameIn(join(current, 'package.json'));
    if (name !== undefined) return { folder: current, name };
    if (dirname(current) === current) return undefined;
  }
}

function nameIn(file: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(file, 'utf8')) as { readonly name?: unknown };
    return typeof name === 'string' && name !== '' ? name : undefined;
  } catch {
    // The file is missing or no JSON. The search goes on in the folder above.
    return undefined;
  }
}
