export * from './cluster-clock.js';
export * from './node-clock.js';
export * from './sightings.js';
