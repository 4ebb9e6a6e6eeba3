/** `npm run sample`: compiles what it needs, then runs the sample from there. No build of the package is needed before. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { execaNode } from 'execa';
import { compile, compiledPath } from '../test/compile.mjs';

const pathOf = (file) => fileURLToPath(new URL(`../../${file}`, import.meta.url));

console.log('Compiling the library, the sample and the page of the console ...');
await Promise.all([compile(), execaNode(pathOf('tools/console/build.mjs'))]);
await import(pathToFileURL(compiledPath(pathOf('sample-app/src/run.ts'))).href);
