export * from './archive/archivist.js';
export { CorruptArchiveError, NewerArchiveError } from './archive/archive.codec.js';
export type {
  BulkResult,
  MigrationPlan,
  MigrationStep,
  Patterns,
  UndoPlan,
  UndoStep,
  DefinitionState,
} from './answers.js';
export { type BulkRequest, entryIdSchema } from './bulk-request.js';
export { nodesText } from './code-difference.js';
export { CodeFollower, LONGEST_DEPLOY } from './code-follower.js';
export { DefinitionArchive } from './archive/definition-archive.js';
export * from './definition-state.js';
export { DefinitionWriter } from './definition-writer.js';
export * from './definitions.js';
export type { MigrationOptions, MigrationProgress, MigrationRequest } from './migration-request.js';
export type { UndoOptions } from './undo/undo.js';
export type { Maintenance } from './maintenance/maintenance.js';
export type {
  FailedChange,
  MaintenanceEnd,
  MaintenanceStart,
  HeldCount,
  LeftAlone,
  MaintenanceWindow,
  OpenWindow,
} from './maintenance/maintenance-answers.js';
export {
  type EndMaintenanceOptions,
  type MaintenanceRequest,
  windowReasonSchema,
} from './maintenance/maintenance-request.js';
export { MaintenanceConflictError, UnknownMaintenanceError } from './maintenance/maintenance.errors.js';
export { MOST_PATTERNS, WINDOW_PHASES } from './change-sets/window-part.js';
