export * from './store.js';
export * from './store.errors.js';
export * from './task-storage.js';
