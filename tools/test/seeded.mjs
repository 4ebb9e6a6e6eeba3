import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { compiledPath, compiledText } from './compile.mjs';

/** By address: the text that a module has in place of its own. */
let texts = {};

/**
 * Lets other texts stand in for sources of the library, in all modules that this thread loads from now on.
 *
 * @param sources the texts, by the paths of the sources
 */
export async function seed(sources) {
  const entries = Object.entries(sources).map(async ([path, source]) => [
    pathToFileURL(compiledPath(path)).href,
    (await compiledText(source, path)).code,
  ]);
  register(import.meta.url, { data: Object.fromEntries(await Promise.all(entries)) });
}

/** Hooks of Node's loader. */
export function initialize(data) {
  texts = data;
}

export function load(url, context, nextLoad) {
  const source = texts[url];
  return source === undefined ? nextLoad(url, context) : { format: 'module', shortCircuit: true, source };
}
