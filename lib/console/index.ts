export * from './api/index.js';
export type { ConsoleOptions, ConsoleToken } from './options/console.options.js';
export { ConsoleModule } from './console.module.js';
