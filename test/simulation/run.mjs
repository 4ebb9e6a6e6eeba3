import { AsyncLocalStorage } from 'node:async_hooks';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { compile, compiledPath } from '../../tools/test/compile.mjs';
import { seed } from '../../tools/test/seeded.mjs';

const args = process.argv.slice(2);
const compiled = (file) => import(compiledPath(fileURLToPath(new URL(file, import.meta.url))));
// A worker runs what the thread that started it compiled.
if (isMainThread) await compile();

// Schedules don't use currentPermit(), which costs a hook on every promise: a tenth of the time. No call of a schedule is
// made in the work of a leader, so each one sees no permit.
AsyncLocalStorage.prototype.run = (_permit, work) => work();
AsyncLocalStorage.prototype.getStore = () => undefined;

// Before anything of the library is imported: a bug stands in for its sources.
const { bug } = parseArgs({ args, strict: false, options: { bug: { type: 'string' } } }).values;
if (bug !== undefined) {
  const [{ bugNamed }, { seededSources }] = await Promise.all([
    compiled('../../verification/proof/bugs/bugs.ts'),
    compiled('../../verification/proof/bugs/seeded-sources.ts'),
  ]);
  await seed(seededSources(bugNamed(bug)));
}
if (isMainThread) {
  const isOtherKind = args.includes('--allocation') || args.includes('--tasks');
  const { main } = await compiled(isOtherKind ? './kind/kind-cli.ts' : './cli.ts');
  process.exitCode = await main(args, console.log);
} else {
  await compiled('./worker.ts');
}
