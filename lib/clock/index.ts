export * from './cluster-clock.js';
export * from './lease-expiry.js';
export * from './lease-observations.js';
