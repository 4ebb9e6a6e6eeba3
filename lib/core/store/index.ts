export * from './driver.js';
export * from './store.errors.js';
