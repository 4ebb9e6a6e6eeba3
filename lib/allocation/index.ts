export * from './manual-slice.js';
// The master set.
export * from './resources/master-set.js';
export * from './resources/master-set-state.js';
// The division.
export * from './assign/assign.js';
export * from './assign/movement-limit.js';
export * from './assign/participant.js';
export * from './assign/strategy.js';
export * from './plan.js';
// The owner map in the store.
export * from './map/root.js';
export * from './map/page.js';
export * from './map/map.codec.js';
// The leader's side.
export * from './round/registry-view.js';
export * from './round/registry-watch.js';
export * from './round/owner-map.js';
export * from './round/round.js';
export * from './round/plan-round.js';
// The node's side.
export * from './node/belief.js';
