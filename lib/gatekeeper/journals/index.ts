export * from './audit.js';
export * from './run-log.js';
