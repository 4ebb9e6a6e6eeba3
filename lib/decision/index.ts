// The definition that people write, and the record that the store keeps.
export * from './definition.js';
export * from './duration.js';
export * from './reserved-names.js';
export * from './patterns/pattern.js';
export * from './patterns/pattern-cost.js';
export * from './patterns/matchers.js';
export * from './permit.js';
export * from './record.js';
export * from './record.codec.js';
export * from './stored-values.js';
// Every change of a record.
export * from './decide.js';
export * from './denial.js';
export * from './kept-duration.js';
export * from './token.js';
export * from './changes.js';
export * from './recovery.js';
// Words for people.
export * from './gatekeeper.error.js';
export * from './invalid-options.error.js';
export * from './only-fields.js';
export * from './texts/show.js';
export * from './texts/message-of.js';
export * from './texts/one-line.js';
export * from './texts/hidden-characters.js';
