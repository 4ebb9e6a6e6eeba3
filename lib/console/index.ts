export * from './api/index.js';
export type { ConsoleOptions, ConsoleToken } from './console.options.js';
export { consoleParts } from './console-parts.js';
