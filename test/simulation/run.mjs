import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

register('./typescript-loader.mjs', import.meta.url);
if (isMainThread) {
  const { main } = await import('./cli.ts');
  process.exitCode = await main(process.argv.slice(2), console.log);
} else {
  await import('./worker.ts');
}
