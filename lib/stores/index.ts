export * from './store.js';
export * from './store.errors.js';
