import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform, version } from '@swc/core';
import { ENTRIES, ROOT } from '../build/entries.mjs';
import options from './swc.options.js';

export { ROOT };

/** Compiled sources, at the same paths as the sources have in the project. */
export const BUILD = join(ROOT, '.build');

const FOLDERS = ['lib', 'test', 'verification', 'examples', 'sample-app/src', 'tools/docs/tables'];
const STATE = join(BUILD, 'compiled.json');

/**
 * Compiles the TypeScript of library, tests, examples and generated docs into `.build`, each file on its own and without a check of
 * types. Only files that changed since the last call are compiled.
 *
 * @returns number of files that were compiled
 */
export async function compile() {
  const key = createHash('sha256')
    .update(JSON.stringify(options))
    .update(version)
    .update(await ownText())
    .digest('hex');
  const before = await stateFor(key);
  const now = Object.fromEntries((await Promise.all(FOLDERS.map((folder) => sourcesIn(folder)))).flat());
  const changed = Object.keys(now).filter((path) => now[path] !== before[path]);
  const gone = Object.keys(before).filter((path) => !(path in now));
  if (changed.length + gone.length === 0) return 0;
  const old = gone.map((path) => compiledPath(join(ROOT, path))).flatMap((path) => [path, `${path}.map`]);
  await Promise.all(old.map((path) => rm(path, { force: true })));
  await Promise.all(changed.map((path) => compileFile(path)));
  await linkPackage();
  await write(STATE, JSON.stringify({ key, files: now }));
  return changed.length;
}

/** Path of the compiled form of a source. */
export function compiledPath(path) {
  return join(BUILD, relative(ROOT, path)).replace(/\.ts$/, '.js');
}

function ownText() {
  return readFile(fileURLToPath(import.meta.url), 'utf8');
}

/** Files that the last call saw, with what told their versions apart. None if it compiled in another way. */
async function stateFor(key) {
  const text = await readFile(STATE, 'utf8').catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    return '{}';
  });
  const state = JSON.parse(text);
  return state.key === key ? state.files : {};
}

async function sourcesIn(folder) {
  const entries = await readdir(join(ROOT, folder), { recursive: true }).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    return [];
  });
  const paths = entries.filter((path) => /(?<!\.d)\.ts$/.test(path) && !/(^|\/)(dist|node_modules)\//.test(path));
  return Promise.all(
    paths.map(async (path) => {
      const { mtimeMs, size } = await stat(join(ROOT, folder, path));
      return [`${folder}/${path}`, `${mtimeMs} ${size}`];
    }),
  );
}

async function compileFile(path) {
  const filename = join(ROOT, path);
  const { code, map } = await compiledText(await readFile(filename, 'utf8'), filename);
  await write(`${compiledPath(filename)}.map`, map);
  await write(compiledPath(filename), code);
}

/** What `compile` makes of a source. */
export async function compiledText(source, filename) {
  const { code, map } = await transform(source, { ...options, filename, sourceFileName: filename });
  return { code: inPlace(code, filename), map };
}

/** What is not TypeScript stays where it is: a module finds other modules and the files beside it from its source's place. */
function inPlace(code, filename) {
  const { href } = pathToFileURL(filename);
  return code
    .replaceAll('import.meta.url', JSON.stringify(href))
    .replaceAll(
      /((?:from|import) *\(?)['"](\.[^'"]+\.[cm]js)['"]/g,
      (_, start, path) => `${start}'${new URL(path, href)}'`,
    );
}

/** Whole or not at all: another run may read the file at this moment. */
async function write(path, text) {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, text);
  await rename(draft, path);
}

/** Lets compiled files import this package by its name, and `@jest/globals`, which refuses to load without Jest's own runner. */
async function linkPackage() {
  const { name, version: own } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const exports = Object.fromEntries(
    Object.entries(ENTRIES).map(([entry, source]) => [
      entry === 'index' ? '.' : `./${entry}`,
      `./${relative(BUILD, compiledPath(source))}`,
    ]),
  );
  await write(join(BUILD, 'package.json'), JSON.stringify({ name, version: own, type: 'module', exports }));
  const globals = join(BUILD, 'node_modules/@jest/globals');
  await write(join(globals, 'package.json'), JSON.stringify({ type: 'module', exports: './index.js' }));
  const names = 'afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test';
  await write(join(globals, 'index.js'), `export const { ${names} } = globalThis;\n`);
}
