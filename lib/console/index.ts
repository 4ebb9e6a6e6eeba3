export * from './api/index.js';
export type { ConsoleOptions, ConsoleToken } from './console.options.js';
export { ConsoleModule } from './console.module.js';
