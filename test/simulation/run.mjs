import { AsyncLocalStorage } from 'node:async_hooks';
import { register } from 'node:module';
import { parseArgs } from 'node:util';
import { isMainThread } from 'node:worker_threads';

const LOADER = './typescript-loader.mjs';
const args = process.argv.slice(2);
register(LOADER, import.meta.url);

// Schedules don't use currentPermit(), which costs a hook on every promise: a tenth of the time. No call of a schedule is
// made in the work of a leader, so each one sees no permit.
AsyncLocalStorage.prototype.run = (_permit, work) => work();
AsyncLocalStorage.prototype.getStore = () => undefined;

// Before anything of the library is imported: a bug stands in for its sources.
const { bug } = parseArgs({ args, strict: false, options: { bug: { type: 'string' } } }).values;
if (bug !== undefined) {
  const [{ bugNamed }, { seededSources }] = await Promise.all([
    import('../bugs/bugs.ts'),
    import('../bugs/seeded-sources.ts'),
  ]);
  register(LOADER, import.meta.url, { data: seededSources(bugNamed(bug)) });
}
if (isMainThread) {
  const isOtherKind = args.includes('--allocation') || args.includes('--tasks');
  const { main } = await import(isOtherKind ? './kind/kind-cli.ts' : './cli.ts');
  process.exitCode = await main(args, console.log);
} else {
  await import('./worker.ts');
}
