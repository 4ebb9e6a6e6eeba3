import { register } from 'node:module';

register('../simulation/typescript-loader.mjs', import.meta.url);
const { main } = await import('./cli.ts');
try {
  process.exitCode = await main(process.argv.slice(2), console.log);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
