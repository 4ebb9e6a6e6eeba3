export * from './cluster-clock.js';
export * from './lease-judge.js';
export * from './node-clock.js';
export * from './sightings.js';
