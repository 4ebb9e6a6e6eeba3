import { register } from 'node:module';

register('../../simulation/typescript-loader.mjs', import.meta.url);
await import('./main.ts');
