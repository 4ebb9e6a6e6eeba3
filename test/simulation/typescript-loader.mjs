import { transformFile } from '@swc/core';
import { fileURLToPath } from 'node:url';
import options from '../swc.options.js';

/** Lets Node import the sources as they are: `./x.js` finds `./x.ts`, compiled as for the tests. */
export async function resolve(specifier, context, nextResolve) {
  if (!specifier.startsWith('.') || !context.parentURL?.endsWith('.ts')) return nextResolve(specifier, context);
  return nextResolve(specifier.replace(/\.js$/, '.ts'), context);
}

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context);
  const { code } = await transformFile(fileURLToPath(url), options);
  return { format: 'module', shortCircuit: true, source: code };
}
