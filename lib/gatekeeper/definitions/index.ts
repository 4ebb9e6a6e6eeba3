export * from './change-options.js';
export * from './code-definitions.js';
export * from './definition-state.js';
export * from './definitions.js';
