export { CallHealth } from './call-health.js';
export * from './driver.js';
export { HintPolls, type PolledQueue } from './hint-polls.js';
export { PrefixWatches } from './prefix-watches.js';
export type { StoreHealth } from './store-health.js';
export * from './store.errors.js';
