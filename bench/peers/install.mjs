import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const read = (path) => JSON.parse(readFileSync(`${FOLDER}/${path}`, 'utf8'));

/** Installs the packages of the peers into this folder, unless they are there in the pinned versions. */
export async function installPeers() {
  const isThere = ([name, version]) => {
    const path = `node_modules/${name}/package.json`;
    return existsSync(`${FOLDER}/${path}`) && read(path).version === version;
  };
  if (Object.entries(read('package.json').dependencies).every(isThere)) return;
  await execa('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund'], { cwd: FOLDER });
}
