import { z } from 'zod';
import { onlyFields, show } from '../../core/decision/index.js';
import { RUN_KINDS } from '../../gatekeeper/index.js';
import {
  atLeastFor,
  duration,
  entryId,
  expectedRevision,
  flag,
  flagText,
  limit,
  limitText,
  name,
  names,
  newName,
  pattern,
  permitId,
  permits,
  reason,
  text,
  timeText,
  wait,
} from './fields.js';
import { LONGEST_SOUGHT, MOST_SHOWN } from './limits.js';

/* Schemas of the input. An unknown field is a fault: otherwise a misspelled field would be silently ignored. */

const change = { reason: reason.optional() };
const edited = {
  groupPattern: pattern.optional(),
  acquirerPattern: pattern.optional(),
  permits: permits.optional(),
};

export const nameParams = onlyFields({ name });
export const permitParams = onlyFields({ id: permitId });

export const changeBody = onlyFields({ ...change, expectedRevision: expectedRevision.optional() }).meta({
  id: 'ChangeRequest',
});
export const removeBody = onlyFields(change).meta({ id: 'RemoveRequest' });
export const revokeBody = onlyFields({ permitId, ...change }).meta({ id: 'RevokeRequest' });
export const defineBody = onlyFields({ name: newName, ...edited, duration, ...change }).meta({ id: 'DefineRequest' });
export const editBody = onlyFields({
  ...edited,
  duration: duration.optional(),
  expectedRevision: expectedRevision.optional(),
  ...change,
}).meta({ id: 'EditRequest' });

export const previewBody = onlyFields({
  name: text(1000),
  groupPattern: text(10_000),
  acquirerPattern: text(10_000),
  permits: z.unknown(),
  duration: z.unknown(),
}).meta({ id: 'PreviewRequest' });

/** Characters of `known` in an answer; a later version may need more. */
const LONGEST_KNOWN = 4000;

export const semaphoresQuery = onlyFields({
  search: text(LONGEST_SOUGHT).optional(),
  paused: flagText.optional(),
  overridden: flagText.optional(),
  held: flagText.optional(),
});

export const semaphorePartsQuery = onlyFields({
  known: text(LONGEST_KNOWN).optional(),
});

export const entriesQuery = onlyFields({ semaphore: name.optional(), limit: limitText(MOST_SHOWN, 100) });

export const historyQuery = onlyFields({
  semaphore: name.optional().meta({ description: 'only runs of this semaphore' }),
  job: text(LONGEST_SOUGHT).optional().meta({ description: 'only runs of this job' }),
  node: text(LONGEST_SOUGHT)
    .optional()
    .meta({ description: 'only runs on this node: its acquirer, `group/acquirer` or its instance' }),
  by: text(LONGEST_SOUGHT)
    .optional()
    .meta({ description: 'only runs of which the semaphore, the job or the node has this name' }),
  show: z
    .enum(RUN_KINDS, { error: ({ input }) => `${show(input)} is not one of ${RUN_KINDS.join(', ')}` })
    .optional()
    .meta({ description: 'only runs of a kind; failed: it threw an error, its node crashed, or it lost its permit' }),
  since: timeText.optional().meta({
    description: 'only runs that ended since then, or go on: `1d` ago, ISO 8601, or ms since the epoch (cluster time)',
  }),
  until: timeText.optional().meta({ description: 'only runs that began until then: a time as in `since`' }),
  limit: limitText(MOST_SHOWN, 100).meta({ description: 'the most entries; 100 unless given' }),
  format: z
    .enum(['json', 'csv'], { error: ({ input }) => `${show(input)} is neither json nor csv` })
    .optional()
    .meta({ description: 'Default: what the header Accept asks for, such as `text/csv`' }),
});

export const jobsQuery = onlyFields({ semaphore: name.optional() });

const bulk = entryId.optional().meta({
  ...entryId.meta(),
  description: '`bulk` of the answer before, if this call continues a change',
});

export const bulkBody = onlyFields({ names: names.optional(), limit: limit.optional(), bulk, ...change }).meta({
  id: 'BulkRequest',
});

export const undoBody = onlyFields({
  entry: entryId.meta({ ...entryId.meta(), description: '`id` or `bulk` of an entry of the audit log' }),
  dryRun: flag.default(true),
  limit: limit.optional(),
  bulk,
  ...change,
}).meta({ id: 'UndoRequest' });

export const migrationBody = onlyFields({
  names: names.optional(),
  group: name.optional(),
  to: onlyFields({ groupPattern: pattern.optional(), acquirerPattern: pattern.optional() }).meta({
    id: 'PatternChanges',
  }),
  dryRun: flag.default(true),
  limit: limit.optional(),
  bulk,
  ...change,
}).meta({ id: 'MigrationRequest' });

export const takeBody = onlyFields({
  semaphore: name,
  holder: name.optional(),
  acquirer: name.optional(),
  group: name.optional(),
  duration: duration.optional(),
  wait: wait.default(0),
  definition: onlyFields({ ...edited, duration })
    .meta({
      id: 'FirstDefinition',
      description: 'Defines the semaphore, unless it is defined already. Needs the role define.',
    })
    .optional(),
}).meta({ id: 'TakePermitRequest' });

export const refreshBody = onlyFields({
  semaphore: name,
  token: z.int({ error: 'is not a fencing token' }).min(1, { error: 'is not a fencing token' }),
  duration: duration.optional(),
}).meta({ id: 'RefreshPermitRequest' });

export const releaseBody = onlyFields({ semaphore: name, atLeastFor: atLeastFor.optional() }).meta({
  id: 'ReleasePermitRequest',
});
