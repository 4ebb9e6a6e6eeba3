import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const FOLDER = fileURLToPath(new URL('../peers/shedlock', import.meta.url));
const built = new Map();

/** The command line of ShedLock's process. Builds it by Maven at the first call. */
export async function javaCommand({ provider, javaArgs = [] }, address, node) {
  if (!built.has(provider)) built.set(provider, build(provider));
  await built.get(provider);
  const folder = join(FOLDER, 'target', provider);
  const classPath = [join(folder, 'classes'), join(folder, 'dependency', '*')].join(':');
  return ['java', '-Xmx128m', ...javaArgs, '-cp', classPath, 'peer.Main', provider, addressOf(provider, address), node];
}

async function build(provider) {
  const goals = ['-q', '-B', '-P', provider, 'compile', 'dependency:copy-dependencies'];
  if (existsSync(join(FOLDER, 'target', provider, 'dependency'))) goals.pop();
  await execa('mvn', goals, { cwd: FOLDER });
}

function addressOf(provider, { clusterName, members, ports, url }) {
  if (provider === 'hazelcast') return `${clusterName}@${members.join(',')}`;
  if (provider === 'redis') return `127.0.0.1:${ports[0]}`;
  return url.replace(/^postgres:\/\/bench@/, 'jdbc:postgresql://');
}
