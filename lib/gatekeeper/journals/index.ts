export * from './audit.js';
export * from './newest-first.js';
export * from './run-log.js';
