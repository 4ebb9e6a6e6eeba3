export * from './manual-slice.js';
