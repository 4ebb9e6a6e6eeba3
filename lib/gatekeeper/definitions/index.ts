export type { BulkRequest, BulkResult } from './bulk-request.js';
export * from './change-options.js';
export * from './code-definitions.js';
export * from './definition-state.js';
export * from './definitions.js';
export type { MigrationPlan, MigrationStep } from './migration.js';
export type { MigrationOptions, MigrationProgress, MigrationRequest, Patterns } from './migration-request.js';
