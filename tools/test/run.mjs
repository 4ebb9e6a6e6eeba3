/** Runs a TypeScript program of the project: `node tools/test/run.mjs <file that exports main> <arguments>`. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compile, compiledPath } from './compile.mjs';
import { nameSources } from './stack-traces.mjs';

const [program, ...args] = process.argv.slice(2);
nameSources();
await compile();
const { main } = await import(pathToFileURL(compiledPath(resolve(program))).href);
process.exitCode = await main(args, console.log);
