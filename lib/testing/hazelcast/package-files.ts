import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import packageRoot from '../../../package-root.cjs';

const shipped = (file: string) => join(packageRoot, 'tools', 'hazelcast', file);

export const pomFile = () => shipped('pom.xml');
export const shippedConfig = () => shipped('hazelcast.yaml');
/** Imports another configuration, and adds split-brain protection. */
export const majorityConfig = () => shipped('hazelcast-majority.yaml');

/** Reads the pinned version of Hazelcast from the pom, the only place that has it. */
export function pinnedVersion(pom = readFileSync(pomFile(), 'utf8')): string {
  const version = /<hazelcast\.version>(.+?)<\/hazelcast\.version>/.exec(pom)?.[1];
  if (version === undefined) throw new Error('tools/hazelcast/pom.xml has no property hazelcast.version');
  return version;
}
