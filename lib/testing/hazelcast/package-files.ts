import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The nearest folder upwards that holds this package's package.json: it is the same for lib/testing (sources, run by a
 * test) and dist/testing (an installed package), which lie at different depths from it in some layouts.
 */
export function packageRoot(from = dirname(fileURLToPath(import.meta.url))): string {
  const manifest = join(from, 'package.json');
  if (existsSync(manifest) && isOurs(manifest)) return from;
  const parent = dirname(from);
  if (parent === from) throw new Error('The folder of nestjs-gatekeeper was not found: is its package.json missing?');
  return packageRoot(parent);
}

const isOurs = (manifest: string) =>
  (JSON.parse(readFileSync(manifest, 'utf8')) as { name?: string }).name === 'nestjs-gatekeeper';

const shipped = (file: string) => join(packageRoot(), 'tools', 'hazelcast', file);

export const pomFile = () => shipped('pom.xml');
export const shippedConfig = () => shipped('hazelcast.yaml');
/** Takes another configuration in, and adds split-brain protection. */
export const majorityConfig = () => shipped('hazelcast-majority.yaml');

/** The pinned version stands in the pom and nowhere else. */
export function pinnedVersion(pom = readFileSync(pomFile(), 'utf8')): string {
  const version = /<hazelcast\.version>(.+?)<\/hazelcast\.version>/.exec(pom)?.[1];
  if (version === undefined) throw new Error('tools/hazelcast/pom.xml has no property hazelcast.version');
  return version;
}
