/**
 * Loads the Hazelcast client when it is first needed: its 493 files are a third of the package's load time, and an
 * application whose records lie elsewhere never needs them. CommonJS on purpose: `require` is synchronous, Node, Jest
 * and Vitest run it alike, and bundlers see which package it names. Loaded once: Jest refuses a `require` after the end of a test file, when a
 * client may still be shutting down.
 */
let client;
module.exports = () => (client ??= require('hazelcast-client'));
