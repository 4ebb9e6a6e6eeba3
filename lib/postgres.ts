export * from './definitions/archive/postgres/index.js';
export * from './stores/postgres/index.js';
