// The definition that people write, and the record in the store.
export * from './definition.js';
export * from './duration.js';
export * from './reserved-names.js';
export * from './patterns/pattern.js';
export * from './patterns/pattern-cost.js';
export * from './matchers.js';
export type { AskedDuration, DefinitionChange, Pause, SemaphoreDefinition, StoredPermit } from './answers.js';
export * from './change-kinds.js';
export * from './permit.js';
export * from './record.js';
export * from './record.codec.js';
export * from './doubt.js';
export * from './shard-names.js';
export * from './shard.js';
export * from './shard-recovery.js';
export * from './claims.js';
export * from './birth.js';
export * from './shard.codec.js';
export * from './stored-values.js';
// Changes of a record.
export * from './decide.js';
export * from './denial.js';
export * from './kept-duration.js';
export * from './token.js';
export * from './changes.js';
export * from './recovery.js';
// Texts for people.
export * from './gatekeeper.error.js';
export * from './invalid-options.error.js';
export * from './omit-undefined.js';
export * from './only-fields.js';
export * from './texts/show.js';
export * from './texts/hash-of.js';
export * from './texts/url-text.js';
export * from './texts/error-texts.js';
export * from './texts/one-line.js';
export * from './texts/hidden-characters.js';
