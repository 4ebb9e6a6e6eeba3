import type {
  BulkRequest,
  BulkResult,
  Definitions,
  MigrationPlan,
  UndoPlan,
  UndoStep,
} from '../../gatekeeper/index.js';
import { bulkSchema, migrationSchema, undoSchema } from '../../operate/definitions/answers.js';
import { expectRole } from './caller.js';
import { type Operation, operation } from './operation.js';
import * as requests from './requests.js';

/** Kinds of changes that need the role `define`, also if they undo another change. */
const DEFINING: ReadonlySet<UndoStep['kind']> = new Set(['define', 'edit', 'reset', 'remove']);

type OnPlanned = (count: number) => void;

type Described = Pick<Operation, 'operationId' | 'summary' | 'role' | 'problems'> & {
  readonly verb: 'pause' | 'resume' | 'reset';
  /** The limit that counts it. */
  readonly limit: 'ofMany' | 'ofPause';
};

/** A change of all definitions whose name matches. */
const ofNames = (
  { verb, limit, ...described }: Described,
  change: (definitions: Definitions, request: BulkRequest) => Promise<BulkResult>,
) =>
  operation({
    ...described,
    method: 'POST',
    path: `api/${verb}`,
    writes: true,
    changesMany: true,
    body: requests.bulkBody,
    answer: bulkSchema,
    run: ({ definitions }, { body }, caller) => {
      const request = { ...body, only: caller.sees, by: caller.user };
      const make = (onPlanned: OnPlanned) => change(definitions, { ...request, onPlanned });
      return caller.limits.changes[limit](caller, make, countDone);
    },
  });

/** Changes many definitions at once. */
export const BULK_OPERATIONS = {
  migrate: operation({
    operationId: 'migrateSemaphores',
    method: 'POST',
    path: 'api/migrations',
    summary: 'Change the patterns of many definitions, or plan it; repeat the call to continue with the rest',
    role: 'operate',
    writes: true,
    changesMany: true,
    body: requests.migrationBody,
    answer: migrationSchema,
    problems: ['nothing-matches'],
    run: async ({ definitions }, { body: { dryRun, reason, limit, bulk, ...request } }, caller) => {
      const { sees: only, user: by, limits } = caller;
      if (dryRun) return definitions.planMigration(request, { limit, only });
      const options = { reason, limit, bulk, only, by };
      const migrate = (onPlanned: OnPlanned) => definitions.migrate(request, { ...options, onPlanned });
      return limits.changes.ofMany(caller, migrate, countMigrated);
    },
  }),
  pauseAll: ofNames(
    {
      verb: 'pause',
      operationId: 'pauseSemaphores',
      summary: 'Pause many semaphores',
      role: 'operate',
      problems: ['nothing-matches'],
      limit: 'ofPause',
    },
    (definitions, request) => definitions.pauseAll(request),
  ),
  resumeAll: ofNames(
    {
      verb: 'resume',
      operationId: 'resumeSemaphores',
      summary: 'Resume many semaphores',
      role: 'operate',
      problems: ['nothing-matches'],
      limit: 'ofMany',
    },
    (definitions, request) => definitions.resumeAll(request),
  ),
  resetAll: ofNames(
    {
      verb: 'reset',
      operationId: 'resetSemaphores',
      summary: "Restore many definitions in the answering node's code",
      role: 'define',
      problems: ['not-in-code'],
      limit: 'ofMany',
    },
    (definitions, request) => definitions.resetAll(request),
  ),
  undo: operation({
    operationId: 'undoChange',
    method: 'POST',
    path: 'api/undo',
    summary: 'Undo an entry of the audit log, or a change of many, or plan it',
    role: 'operate',
    writes: true,
    changesMany: true,
    body: requests.undoBody,
    answer: undoSchema,
    problems: ['unknown-entry', 'undo-refused', 'edit-conflict'],
    run: async ({ definitions }, { body: { entry, dryRun, reason, limit, bulk } }, caller) => {
      const { sees: only, user: by, limits } = caller;
      if (dryRun) return definitions.planUndo(entry, { limit, only });
      const undo = (onPlanned: OnPlanned) =>
        definitions.undo(entry, {
          reason,
          limit,
          bulk,
          only,
          by,
          onPlanned: (steps) => {
            if (steps.some(({ kind }) => DEFINING.has(kind))) expectRole(caller, 'define');
            onPlanned(steps.length);
          },
        });
      return limits.changes.ofMany(caller, undo, countUndone);
    },
  }),
};

function countDone({ done }: BulkResult): number {
  return done.length;
}

function countMigrated({ steps }: MigrationPlan): number {
  return steps.filter(({ outcome }) => outcome === 'migrated').length;
}

function countUndone({ steps }: UndoPlan): number {
  return steps.filter(({ outcome }) => outcome === 'undone').length;
}
