import { transform } from '@swc/core';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import options from '../swc.options.js';

/** By path: the text that stands in for a source, where a bug was put in on purpose. */
let seeded = {};

export function initialize(sources = {}) {
  seeded = sources;
}

/** Lets Node import the sources as they are: `./x.js` finds `./x.ts`, compiled as for the tests. */
export async function resolve(specifier, context, nextResolve) {
  if (!specifier.startsWith('.') || !context.parentURL?.endsWith('.ts')) return nextResolve(specifier, context);
  return nextResolve(specifier.replace(/\.js$/, '.ts'), context);
}

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context);
  const filename = fileURLToPath(url);
  const source = seeded[filename] ?? (await readFile(filename, 'utf8'));
  const { code } = await transform(source, { ...options, filename });
  return { format: 'module', shortCircuit: true, source: code };
}
