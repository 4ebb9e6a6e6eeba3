export * from './archive/archivist.js';
export { CorruptArchiveError, NewerArchiveError } from './archive/archive.codec.js';
export type { BulkRequest, BulkResult } from './bulk-request.js';
export { nodesText } from './code-difference.js';
export { CodeFollower, LONGEST_DEPLOY } from './code-follower.js';
export { DefinitionArchive } from './archive/definition-archive.js';
export * from './definition-state.js';
export { DefinitionWriter } from './definition-writer.js';
export * from './definitions.js';
export type { MigrationPlan } from './migration.js';
export type { MigrationStep } from './migration-request.js';
export type { MigrationOptions, MigrationProgress, MigrationRequest, Patterns } from './migration-request.js';
export type { UndoOptions, UndoPlan } from './undo/undo.js';
export type { UndoStep } from './undo/undo-plan.js';
export { entryIdSchema } from './bulk-request.js';
export type { Maintenance } from './maintenance/maintenance.js';
export type { FailedChange, MaintenanceEnd, MaintenanceStart } from './maintenance/maintenance-results.js';
export {
  type EndMaintenanceOptions,
  type MaintenanceRequest,
  windowReasonSchema,
} from './maintenance/maintenance-request.js';
export { MaintenanceConflictError, UnknownMaintenanceError } from './maintenance/maintenance.errors.js';
export type { HeldCount, LeftAlone, MaintenanceWindow, OpenWindow } from './maintenance/window-status.js';
export { MOST_PATTERNS, WINDOW_PHASES } from './change-sets/window-part.js';
